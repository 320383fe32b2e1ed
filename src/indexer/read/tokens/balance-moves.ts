import { setImmediate } from 'node:timers/promises';
import type { Address } from 'viem';
import { hexOf, nullableUint } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { RowIn } from '#db/select/select.ts';
import { blockStart, positionOf } from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';
import { type TokenType, tokenTypeOf } from '../../schema/transaction-types.ts';

/** Transfer of one token, or of one id of a batch, with the fields that balances need. */
export interface BalanceMove {
  /** Position of the transaction in its block. */
  transactionIndex: number;
  token: Address;
  tokenType: TokenType;
  from: Address;
  to: Address;
  /** Null for ERC-20. */
  tokenId: bigint | null;
  /** In the token's smallest unit; null for ERC-721. */
  amount: bigint | null;
}

/** Rows per statement, between which other work runs. */
const MOVES_PER_READ = 2_000;

/** Token transfers of one block, in order; undefined when there are more than `limit`. */
export async function tokenMoves(
  handle: Handle,
  { blockNumber, limit }: { blockNumber: number; limit: number },
): Promise<BalanceMove[] | undefined> {
  const moves: BalanceMove[] = [];
  const end = blockStart(blockNumber + 1);
  for (let from = blockStart(blockNumber); ; ) {
    const rows = await MOVE.rows(handle, `where id >= ? and id < ? order by id limit ?`, [
      from,
      end,
      MOVES_PER_READ,
    ]);
    for (const row of rows) moves.push(moveOf(row));
    const last = rows.at(-1);
    if (moves.length > limit) return undefined;
    if (last === undefined || rows.length < MOVES_PER_READ) return moves;
    from = last.id + 1;
    await setImmediate();
  }
}

const MOVE = select({
  from: 'token_transfers',
  columns: [
    'id',
    'transaction_id',
    'token',
    'token_type',
    'from_address',
    'to_address',
    'token_id',
    'amount',
  ],
});

function moveOf(row: RowIn<typeof MOVE>): BalanceMove {
  return {
    transactionIndex: positionOf(row.transaction_id).index,
    token: hexOf(row.token),
    tokenType: tokenTypeOf(row.token_type),
    from: hexOf(row.from_address),
    to: hexOf(row.to_address),
    tokenId: nullableUint(row.token_id),
    amount: nullableUint(row.amount),
  };
}
