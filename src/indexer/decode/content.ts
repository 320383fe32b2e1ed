import type { JudgedBlock } from '../fetch/fetched-block.ts';
import type { InternalCall } from './internal-transactions.ts';
import type { TokenTransfer } from './token-transfers.ts';
import type { Withdrawal } from './withdrawals.ts';

/** What was read out of a block, before it takes the form of rows. */
export interface BlockContent {
  fetched: JudgedBlock;
  transfers: TokenTransfer[];
  internals: InternalCall[];
  withdrawals: Withdrawal[];
}
