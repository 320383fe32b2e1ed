import type { Answers } from '../port/backend.ts';
import { withLateExtra } from './client/side-requests.ts';
import type { BlockscoutSource } from './client/source.ts';
import { internalTransaction } from './normalise/internal-transaction.ts';
import { tokenTransferRecord } from './normalise/token-transfer.ts';
import { withdrawal } from './normalise/withdrawal.ts';
import {
  INTERNAL_TRANSACTION_SETS,
  internalTransactionKeys,
  isStillTraced,
  TOKEN_TRANSFER_SETS,
  tokenTransferKeys,
  WITHDRAWAL_SETS,
  withdrawalKeys,
} from './paging/cursor-params.ts';
import { listAnswer, readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Lists of the whole chain other than transactions and blocks. */
export function feedAnswers(source: BlockscoutSource) {
  return {
    async listTokenTransfers({ query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listTokenTransfers',
        path: '/token-transfers',
        start: positionFrom(query, TOKEN_TRANSFER_SETS),
        item: tokenTransferRecord,
        keys: tokenTransferKeys,
      });
    },

    async listInternalTransactions({ query }, ask) {
      const reading = readList(source, ask, {
        operation: 'listInternalTransactions',
        path: '/internal-transactions',
        start: positionFrom(query, INTERNAL_TRANSACTION_SETS),
        item: internalTransaction,
        keys: internalTransactionKeys,
      });
      const [{ body, envelope }, hasTraces] = await withLateExtra(
        reading,
        source.indexing.hasTraces(),
        source.clock,
      );
      return isStillTraced(envelope) || hasTraces === false ? { body, unsettled: true } : { body };
    },

    async listWithdrawals({ query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listWithdrawals',
        path: '/withdrawals',
        start: positionFrom(query, WITHDRAWAL_SETS),
        item: withdrawal,
        keys: withdrawalKeys,
      });
    },
  } satisfies Answers;
}
