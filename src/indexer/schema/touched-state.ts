import type { Dialect } from '../../db/dialect.ts';
import type { Sql } from '../../db/query.ts';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import { blockStart } from './block-position.ts';
import { DIRTY_KINDS } from './state-tables.ts';
import type { Table } from './tables.ts';

/** Blocks by number, both inclusive. */
export interface BlockSpan {
  readonly from: number;
  readonly to: number;
}

/** Columns in addition to a block's `miner` with accounts whose coins may move, or which may become contracts. */
const COINS = {
  transactions: ['from_address', 'to_address', 'created_contract'],
  logs: ['address'],
  internal_transactions: ['from_address', 'to_address', 'created_contract'],
  token_transfers: ['from_address', 'to_address'],
  withdrawals: ['address'],
} as const satisfies Partial<Record<Table, readonly string[]>>;

/**
 * Query of the state that the rows of blocks may have changed. The same rule marks state after a block is written and
 * before it is removed, and names the state to verify. Columns: `kind`, `address`, `holder`, `token_id` and `block`; the
 * same entry may appear several times.
 */
export function touchedState({ bytesLiteral }: Dialect, { from, to }: BlockSpan): Sql {
  const none = bytesLiteral('0x');
  const zero = bytesLiteral(ZERO_ADDRESS);
  const entry = (kind: keyof typeof DIRTY_KINDS, { address, holder = none, tokenId = `''` }: EntrySql) =>
    `select ${DIRTY_KINDS[kind]} as kind, ${address} as address, ${holder} as holder, ${tokenId} as token_id`;
  const ofRows = (table: string) => `, id >> 20 as block from ${table} where id >= ? and id < ?`;
  const ofBlocks = ', number as block from blocks where number >= ? and number < ?';
  const coins = Object.entries(COINS).flatMap(([table, columns]) =>
    columns.map(column => `${entry('coin', { address: column })}${ofRows(table)} and ${column} is not null`),
  );
  const transfers = ofRows('token_transfers');
  // Only ERC-1155 has one balance per token id.
  const tokenId = `case when token_type = 3 then token_id else '' end`;
  const queries = [
    ...coins,
    ...['from_address', 'to_address'].map(
      holder =>
        `${entry('balance', { address: 'token', holder, tokenId })}${transfers} and ${holder} <> ${zero}`,
    ),
    `${entry('token', { address: 'token' })}${transfers}`,
    `${entry('instance', { address: 'token', tokenId: 'token_id' })}${transfers} and token_type = 2`,
  ];
  return {
    sql: [`${entry('coin', { address: 'miner' })}${ofBlocks}`, ...queries].join('\nunion all '),
    bindings: [from, to + 1, ...queries.flatMap(() => [blockStart(from), blockStart(to + 1)])],
  };
}

interface EntrySql {
  readonly address: string;
  readonly holder?: string;
  readonly tokenId?: string;
}
