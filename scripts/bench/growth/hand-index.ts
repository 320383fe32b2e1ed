import { createServer, type ServerResponse } from 'node:http';
import Database from 'better-sqlite3';

/** Place of the first row of a block; see `positionKey`. */
const PLACES = 2 ** 20;
const PAGE_SIZE = 50;

/**
 * Serves transactions of an index as bare rows, with their transfers and addresses. These are the rows that the records
 * are made of.
 */
export async function serveHandIndex(file: string) {
  const db = new Database(file, { readonly: true });
  db.exec('pragma cache_size = -65536');
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    return (...bindings: (number | Buffer)[]): Row[] => statement.all(...bindings).map(rowOf);
  };
  const from =
    't.*, b.hash as block_hash, b.base_fee_per_gas from transactions t join blocks b on b.number = t.id >> 20';
  const page = prepare(`select ${from} where t.id < ? order by t.id desc limit ${PAGE_SIZE + 1}`);
  const one = prepare(`select ${from} where t.hash = ?`);
  const transfers = prepare('select * from token_transfers where id >= ? and id < ? limit 10');
  const token = prepare('select * from tokens where address = ?');
  const address = prepare('select * from addresses where address = ?');

  const transfersOf = ({ id, first_transfer: place, token_transfer_count: count }: Row) => {
    if (place === null) return [];
    const first = Math.floor(Number(id) / PLACES) * PLACES + Number(place);
    return transfers(first, first + Number(count));
  };
  const withParties = (rows: readonly Row[]) => {
    const tokens = new Map<unknown, Row | undefined>();
    const addresses = new Map<unknown, Row | undefined>();
    const known = (records: typeof tokens, read: typeof token, key: unknown) => {
      if (!records.has(key)) records.set(key, read(Buffer.from(String(key).slice(2), 'hex'))[0]);
      return records.get(key);
    };
    const withAddresses = (row: Row) => ({
      ...row,
      from: known(addresses, address, row.from_address),
      to: known(addresses, address, row.to_address),
    });
    return rows.map(row => ({
      ...withAddresses(row),
      transfers: transfersOf(row).map(transfer => ({
        ...withAddresses(transfer),
        token: known(tokens, token, transfer.token),
      })),
    }));
  };
  const answerTo = (url: URL) => {
    const block = url.searchParams.get('block_number');
    if (block !== null) return withParties(page(Number(block) * PLACES + 1));
    const hash = url.pathname.slice(url.pathname.lastIndexOf('/') + 3);
    return withParties(one(Buffer.from(hash, 'hex')));
  };

  const server = createServer((request, response) =>
    sendJson(response, answerTo(new URL(request.url ?? '', 'http://localhost'))),
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${at.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      db.close();
    },
  };
}

type Row = Readonly<Record<string, unknown>>;

/** Row from the driver, with bytes as hex. */
function rowOf(row: unknown): Row {
  return Object.fromEntries(
    Object.entries(Object(row)).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : value,
    ]),
  );
}

function sendJson(response: ServerResponse, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}
