import type { Address } from 'viem';
import { hexOf, uintOrNull } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { blockStart, positionOf } from '../../schema/block-position.ts';
import { type TokenType, tokenTypeOf } from '../../schema/transaction-types.ts';

/** A token, or one id of a batch, that changed hands, with as much as balances need. */
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

/** Every movement of a token in one block, in order. */
export async function tokenMoves(handle: Handle, blockNumber: number): Promise<BalanceMove[]> {
  const rows = await handle.raw<MoveColumns[]>(
    `select transaction_id, token, token_type, from_address, to_address, token_id, amount
     from token_transfers where id >= ? and id < ? order by id`,
    [blockStart(blockNumber), blockStart(blockNumber + 1)],
  );
  return rows.map(row => ({
    transactionIndex: positionOf(row.transaction_id).index,
    token: hexOf(row.token),
    tokenType: tokenTypeOf(row.token_type),
    from: hexOf(row.from_address),
    to: hexOf(row.to_address),
    tokenId: uintOrNull(row.token_id),
    amount: uintOrNull(row.amount),
  }));
}

interface MoveColumns {
  transaction_id: number;
  token: Buffer;
  token_type: number;
  from_address: Buffer;
  to_address: Buffer;
  token_id: string | null;
  amount: string | null;
}
