import { describe, expect, test } from 'vitest';
import { keptConnection } from '#test/support/kept-connection.ts';
import { rawRequest } from '#test/support/raw-request.ts';
import { type Block, type Envelope, type Ground, lower, PUBLIC_HOST, pathOf, type Row } from './ground.ts';

/** Answers about one chain or many. */
export function chainsAnswerTogether(ground: () => Ground): void {
  describe('chains', () => {
    const idsOf = async (path: string) => {
      const { status, body } = await ground().api.get(path);
      if (status !== 200 || typeof body !== 'object' || body === null || !('meta' in body)) return [status];
      const envelope: Envelope<Row> = JSON.parse(JSON.stringify(body));
      return envelope.meta.chain_ids;
    };

    test('are those in chain_id and chain together, each once, and the first one by default', async () => {
      const [a, b] = ground().chains.map(({ id }) => id);

      expect(await idsOf('/insights/v1/blocks')).toEqual([a]);
      expect(await idsOf(`/insights/v1/blocks?chain_id=${b}`)).toEqual([b]);
      expect(await idsOf(`/insights/v1/blocks?chain=${b}`)).toEqual([b]);
      expect(await idsOf(`/insights/v1/blocks?chain_id=${b}&chain_id=${a}`)).toEqual([b, a]);
      expect(await idsOf(`/insights/v1/blocks?chain_id=${a}&chain=${b}&chain=${a}`)).toEqual([a, b]);
      expect(await idsOf(`/insights/v1/blocks?chain_id=${b},${a}`)).toEqual([b, a]);
    });

    test('come from the first label of a host name, and never from an IP address', async () => {
      const [a, b] = ground().chains.map(({ id }) => id);
      const by = async (host: string, query = '') => {
        const request = `GET /insights/v1/blocks${query} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
        const { status, body } = await rawRequest(ground().url, request);
        const envelope: Envelope<Row> = JSON.parse(body);
        return status === 200 ? envelope.meta.chain_ids : [status];
      };

      expect(await by(`${b}.data.test`)).toEqual([b]);
      expect(await by(`${b}.data.test:8080`)).toEqual([b]);
      expect(await by(`${b}.data.test.`)).toEqual([b]);
      expect(await by(`${b}.data.test`, `?chain_id=${a}`)).toEqual([a]);
      for (const host of [
        '127.0.0.1',
        '31338',
        '31338.0.0.1',
        '31338.1',
        '99.data.test',
        'data.31338.test',
        '[::1]:80',
      ])
        expect([host, await by(host)]).toEqual([host, [a]]);
    });

    test('come from each request’s own host, however often its target was requested with another one', async () => {
      const [a, b] = ground().chains.map(({ id }) => id);
      const connection = keptConnection(Number(new URL(ground().url).port));
      const by = async (id: number | undefined) => {
        const request = `GET /insights/v1/blocks?limit=6 HTTP/1.1\r\nHost: ${id}.data.test\r\n\r\n`;
        const [, body = ''] = (await connection.exchange(request)).split('\r\n\r\n');
        const envelope: Envelope<Row> = JSON.parse(body);
        return envelope.meta.chain_ids;
      };

      const seen: (readonly number[])[] = [];
      for (const id of [a, a, a, b, b, b, a]) seen.push(await by(id));
      connection.close();

      expect(seen).toEqual([a, a, a, b, b, b, a].map(id => [id]));
    });

    test('come from the host of an absolute target before the Host header', async () => {
      const [a, b] = ground().chains.map(({ id }) => id);

      const { status, body } = await rawRequest(
        ground().url,
        `GET http://${b}.data.test/insights/v1/blocks HTTP/1.1\r\nHost: ${a}.data.test\r\nConnection: close\r\n\r\n`,
      );
      const envelope: Envelope<Row> = JSON.parse(body);

      expect([status, envelope.meta.chain_ids]).toEqual([200, [b]]);
    });

    test('are refused when the number below our own host is not a configured chain', async () => {
      const { api, chains } = ground();
      const request = (path: string, host: string) =>
        rawRequest(ground().url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

      const unknown = await request('/insights/v1/blocks', `99.${PUBLIC_HOST}`);
      const missing = await request(
        `/insights/v1/contracts/abi/${`0x${'1'.repeat(40)}`}`,
        `99.${PUBLIC_HOST}`,
      );
      const known = await request('/insights/v1/blocks', `${chains[1]?.id}.${PUBLIC_HOST}`);

      expect([unknown.status, missing.status, known.status]).toEqual([400, 404, 200]);
      expect(JSON.parse(unknown.body)).toEqual({ error: expect.stringMatching(/^Host: must name one of/) });
      expect((await api.get('/insights/v1/blocks')).status).toBe(200);
    });

    test('are sorted together, with limit and page applied to each', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      const query = { chain_id: ids, limit: 3, page: 2, sort_order: 'asc' };
      const { data, meta } = await read<Envelope<Block>>('/blocks', query);
      const lengths = chains.map(({ seen }) => seen.blocks.length);

      expect(data.map(block => [block.block_number, block.chain_id])).toEqual(
        [6, 7, 8].flatMap(height => ids.map(id => [height, id])),
      );
      expect(meta).toEqual({
        chain_ids: ids,
        page: 2,
        limit_per_chain: 3,
        total_items: lengths.reduce((sum, length) => sum + length, 0),
        total_pages: Math.ceil(Math.max(...lengths) / 3),
      });
    });

    test('that are out are named, and the others are answered', async () => {
      const { api, out, chains, read } = ground();
      const ids = chains.map(({ id }) => id);
      const path = pathOf('/transactions', { chain_id: [out, ...ids], limit: 2 });
      const { status, body, headers } = await api.get(path);
      const groups = await read<Envelope<Row>>('/blocks', {
        chain_id: [ids[0] ?? 0, out],
        aggregate: 'count()',
      });

      expect(status).toBe(200);
      expect(body).toMatchObject({ meta: { chain_ids: ids, failed_chain_ids: [out] } });
      expect(headers.get('x-chain-id')).toBe(ids.join(', '));
      expect(headers.get('x-backend')).toBe(ids.map(id => `index-${id}`).join(', '));
      expect(groups.meta).toMatchObject({ chain_ids: [ids[0]], failed_chain_ids: [out] });
      expect(groups.aggregations).toEqual([{ 'count()': chains[0].seen.blocks.length }]);
    });

    test('that are all out are a 500 with an error message', async () => {
      const { api, out, chains } = ground();
      for (const path of [
        '/blocks',
        '/transactions?aggregate=count()',
        '/tokens/lookup?symbol=TOLL',
        '/tokens/price?symbol=TOLL',
        `/nfts/transfers/${chains[0].contract('Postcards')}`,
        `/contracts/abi/${chains[0].contract('Postcards')}`,
      ]) {
        const target = `/insights/v1${path}${path.includes('?') ? '&' : '?'}chain_id=${out}`;
        const { status, body, headers } = await api.get(target);
        expect([path, status, body]).toEqual([path, 500, { error: expect.any(String) }]);
        expect(headers.get('cache-control')).toBe('no-store');
      }
    });

    test('default to all of them in order for ABIs and prices, until one has a result', async () => {
      const { api, chains, read } = ground();
      const [a, b] = chains;
      const [own, other] = chains.map(({ contract }) => contract('Community Token'));
      expect(own).not.toBe(other);

      const abi = await api.get(`/insights/v1/contracts/abi/${other}`);
      const named = await api.get(`/insights/v1/contracts/abi/${other}?chain_id=${a.id}`);
      const price = await read<{ data: Row[] }>('/tokens/price', { address: String(other) });
      const none = await read<{ data: Row[] }>('/tokens/price', { address: String(other), chain_id: a.id });
      const both = await read<{ data: Row[] }>('/tokens/price', {
        symbol: 'TOLL',
        chain_id: [b.id, a.id],
      });

      expect([abi.status, abi.headers.get('x-chain-id')]).toEqual([200, String(b.id)]);
      expect(named.status).toBe(404);
      expect(price.data).toMatchObject([{ chain_id: b.id, address: lower(String(other)) }]);
      expect(none.data).toEqual([]);
      expect(both.data.map(row => row.chain_id)).toEqual([b.id, a.id]);
    });
  });

  describe('totals', () => {
    test('are correct without any rows when limit is 0', async () => {
      const { read, chains } = ground();
      const [{ id, seen }] = chains;
      const { data, meta } = await read<Envelope<Row>>('/transactions', { chain_id: id, limit: 0 });

      expect(data).toEqual([]);
      expect(meta).toMatchObject({
        total_items: seen.transactions.length,
        limit_per_chain: 0,
        total_pages: 0,
      });
    });

    test('of groups count groups, and pages run over all chains together', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      const senders = new Set(chains.flatMap(({ seen }) => seen.transactions.map(one => lower(one.from))));
      const query = { chain_id: ids, group_by: 'from_address', limit: 4 };
      const rows: Row[] = [];
      for (let page = 0; page * 4 < senders.size; page += 1) {
        const { aggregations, meta } = await read<Envelope<Row>>('/transactions', { ...query, page });
        expect(meta).toMatchObject({ total_items: senders.size, total_pages: Math.ceil(senders.size / 4) });
        rows.push(...aggregations);
      }

      expect(rows.map(row => row.from_address)).toEqual([...senders].sort().reverse());
    });
  });
}
