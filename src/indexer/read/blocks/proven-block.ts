import { setImmediate } from 'node:timers/promises';
import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf, nullableHex, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { BOUND } from '#db/query.ts';
import { TRANSFER } from '#evm/coin-logs.ts';
import { blockStart, positionOf } from '../../schema/block-position.ts';
import { readHead } from '../../schema/head.ts';
import { select } from '../../schema/select.ts';

/** A transaction of a proven block, with its logs that have the form of an ERC-20 transfer. Hex is lower case. */
interface ProvenTransaction {
  readonly hash: Hash;
  readonly from: Address;
  /** Null for a creation. */
  readonly to: Address | null;
  /** In wei. */
  readonly value: bigint;
  readonly hasSucceeded: boolean;
  readonly logs: readonly TransferLog[];
}

interface TransferLog {
  /** Position in the block. */
  readonly index: number;
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** A block that was recomputed up to its hash, or the newest block of an index that has no such block. */
type ProvenBlock =
  | {
      readonly kind: 'proven';
      readonly parentHash: Hash;
      /** UTC milliseconds. */
      readonly time: number;
      readonly transactions: readonly ProvenTransaction[];
    }
  | { readonly kind: 'absent'; readonly head: number | undefined };

/** Rows of one statement, so that a full block does not hold up other work. */
const ROWS = 2_000;

/** The transactions of a block, or those of them that `hashes` names, if the block is proven. */
export async function provenBlock(
  handle: Handle,
  { number, hash, hashes }: { number: number; hash: Hash; hashes: ReadonlySet<string> | undefined },
): Promise<ProvenBlock> {
  const read = () =>
    BLOCK.rows(handle, 'where number = ? and hash = ? and proven = 1', [number, bytesColumn(hash)]);
  const [block] = await read();
  const transactions = block && (await transactionsOf(handle, number, hashes));
  // The statements are no transaction, so that the block may have been replaced meanwhile.
  const [same] = block === undefined ? [] : await read();
  if (transactions === undefined || same === undefined)
    return { kind: 'absent', head: (await readHead(handle))?.number };
  return { kind: 'proven', parentHash: hexOf(same.parent_hash), time: same.timestamp, transactions };
}

async function transactionsOf(
  handle: Handle,
  number: number,
  hashes: ReadonlySet<string> | undefined,
): Promise<ProvenTransaction[]> {
  const end = blockStart(number + 1);
  const all = await everyRow(after =>
    TRANSACTION.rows(handle, `where id > ? and id < ? order by id limit ${BOUND}`, [after, end, ROWS]),
  );
  const named = hashes === undefined ? all : all.filter(({ hash }) => hashes.has(hexOf(hash)));
  const logs = Map.groupBy(
    hashes === undefined ? await logsOfBlock() : (await Promise.all(named.map(logsOf))).flat(),
    one => one.transaction_id,
  );
  return named.map(row => ({
    hash: hexOf(row.hash),
    from: hexOf(row.from_address),
    to: nullableHex(row.to_address),
    value: uintOf(row.value),
    hasSucceeded: row.status === 1,
    logs: (logs.get(row.id) ?? []).map(log => ({
      index: positionOf(log.id).index,
      address: hexOf(log.address),
      topics: [log.topic0, log.topic1, log.topic2].filter(topic => topic !== null).map(hexOf),
      data: hexOf(log.data),
    })),
  }));

  function logsOfBlock() {
    return everyRow(after =>
      LOG.rows(handle, `where id > ? and id < ? and ${IS_TRANSFER} order by id limit ${BOUND}`, [
        after,
        end,
        bytesColumn(TRANSFER),
        ROWS,
      ]),
    );
  }

  function logsOf({ id }: { readonly id: number }) {
    return everyRow(after =>
      LOG.rows(handle, `where transaction_id = ? and id > ? and ${IS_TRANSFER} order by id limit ${BOUND}`, [
        id,
        after,
        bytesColumn(TRANSFER),
        ROWS,
      ]),
    );
  }

  /** All rows of the block, one page after another. */
  async function everyRow<Row extends { readonly id: number }>(
    page: (after: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    const rows: Row[] = [];
    for (;;) {
      const some = await page(rows.at(-1)?.id ?? blockStart(number) - 1);
      rows.push(...some);
      if (some.length < ROWS) return rows;
      await setImmediate();
    }
  }
}

const BLOCK = select({ from: 'blocks', columns: ['parent_hash', 'timestamp'] });
const TRANSACTION = select({
  from: 'transactions',
  columns: ['id', 'hash', 'from_address', 'to_address', 'value', 'status'],
});
const LOG = select({
  from: 'logs',
  columns: ['id', 'transaction_id', 'address', 'topic0', 'topic1', 'topic2', 'data'],
});
const IS_TRANSFER = 'topic0 = ? and topic3 is null';
