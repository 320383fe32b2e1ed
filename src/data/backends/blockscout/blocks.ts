import type { Answer, Answers } from '../port/backend.ts';
import { withLateExtra } from './client/side-requests.ts';
import { type BlockscoutSource, mustBe, read, readableItems } from './client/source.ts';
import { block } from './normalise/block.ts';
import { internalTransaction } from './normalise/internal-transaction.ts';
import { transactionOrNull } from './normalise/transaction.ts';
import { blockWithdrawal } from './normalise/withdrawal.ts';
import {
  BLOCK_SETS,
  blockKeys,
  blockTransactionKeys,
  internalTransactionKeys,
  isStillTraced,
  reportsTraceProgress,
  WITHDRAWAL_SETS,
  withdrawalKeys,
} from './paging/cursor-params.ts';
import { listAnswer, readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Answers about blocks and their contents. */
export function blockAnswers(source: BlockscoutSource) {
  const { depths, indexing, clock } = source;
  return {
    async listBlocks({ query }, ask) {
      const { type } = query;
      return listAnswer(source, ask, {
        operation: 'listBlocks',
        path: '/blocks',
        start: positionFrom(query, BLOCK_SETS),
        filters: { type },
        passes: record => record.type === type,
        item: block,
        keys: blockKeys,
      });
    },

    async listMainPageBlocks(_request, { signal }) {
      const get = { operation: 'listMainPageBlocks', path: '/main-page/blocks', signal } as const;
      return {
        body: await read(source, get, body => readableItems(source, get, { list: body, read: block })),
      };
    },

    async getBlock({ path: { block_number_or_hash: id } }, { signal }) {
      const reading = read(source, { operation: 'getBlock', path: `/blocks/${id}`, signal }, body => ({
        sent: body,
        found: mustBe(id, isHash(id) ? 'hash' : 'height', block(body)),
      }));
      return settled(
        reading.then(({ found }) => found),
        depths.ofThisBlock(
          id,
          reading.then(({ sent }) => sent),
        ),
      );
    },

    async listBlockTransactions({ path: { block_number_or_hash: id }, query }, ask) {
      const reading = readList(source, ask, {
        operation: 'listBlockTransactions',
        path: `/blocks/${id}/transactions`,
        start: positionFrom(query, [['block_number', 'index']]),
        item(value) {
          const found = transactionOrNull(value);
          return found === null || isHash(id) ? found : mustBe(id, 'block_number', found);
        },
        keys: blockTransactionKeys,
      });
      return settled(
        reading.then(({ body }) => body),
        depths.ofBlock(id),
      );
    },

    async listBlockInternalTransactions({ path: { block_number_or_hash: id }, query }, ask) {
      const traces = indexing.hasTraces();
      const reading = readList(source, ask, {
        operation: 'listBlockInternalTransactions',
        path: `/blocks/${id}/internal-transactions`,
        start: positionFrom(query, [['transaction_index', 'index']]),
        item(value) {
          const found = internalTransaction(value);
          return isHash(id) ? found : mustBe(id, 'block_number', found);
        },
        keys: internalTransactionKeys,
      });
      const answer = await settled(
        reading.then(({ body }) => body),
        depths.ofBlock(id),
      );
      const { envelope } = await reading;
      if (isStillTraced(envelope)) return { body: answer.body };
      if (reportsTraceProgress(envelope)) return answer;
      // An empty list is final only when tracing is complete (Decision 66).
      const [, hasTraces] = await withLateExtra(reading, traces, clock);
      return hasTraces === true ? answer : { body: answer.body };
    },

    async listBlockWithdrawals({ path: { block_number_or_hash: id }, query }, ask) {
      const reading = readList(source, ask, {
        operation: 'listBlockWithdrawals',
        path: `/blocks/${id}/withdrawals`,
        start: positionFrom(query, WITHDRAWAL_SETS),
        item: blockWithdrawal,
        keys: withdrawalKeys,
      });
      return settled(
        reading.then(({ body }) => body),
        depths.ofBlock(id),
      );
    },
  } satisfies Answers;

  async function settled<Body>(
    reading: Promise<Body>,
    depth: Promise<number | undefined>,
  ): Promise<Answer<Body>> {
    const [body, confirmations] = await withLateExtra(reading, depth, clock);
    return confirmations === undefined ? { body } : { body, confirmations };
  }
}

function isHash(numberOrHash: string): boolean {
  return numberOrHash.startsWith('0x');
}
