import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsOperations } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle } from '../../db/open.ts';
import { HttpError } from '../../http/errors.ts';
import type { ReadProof } from '../../node/transaction-proof.ts';
import { sweepStore } from '../deposits/sweep-store.ts';
import { normalToken } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { searchOf } from '../search/session-search.ts';
import { foundTransactions } from '../search/transaction-search.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { isToAddressOf } from '../settlement/match.ts';
import { settlement } from '../settlement/settlement.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { cursorRefused, periodOf, resourceNotFound, sortedList } from './responses/answers.ts';
import { candidateList, otherAddress } from './responses/candidates.ts';
import { transactionBody } from './responses/record-bodies.ts';
import { exportOf } from './responses/transactions-csv.ts';

/** Operations on transactions: transfers that were matched with sessions (Decision 111). */
export function transactionHandlers(context: PaymentsContext, { readProof }: { readProof: ReadProof }) {
  const { db, seals, clock, chains } = context;
  return {
    async listPaymentTransactions({ query }, caller) {
      const search = searchOf(query, caller, chains);
      const filters = filtersOf(query);
      const transactions = await foundTransactions({ handle: db, seals }, search, filters, query).catch(
        cursorRefused,
      );
      const ids = transactions.data.map(({ sessionId }) => sessionId);
      const sessions = await sessionStore(db, seals).findMany(ids);
      const extrasOf = await extras(db, transactions.data);
      // Retention may have removed a session and its transactions since they were read.
      const data = transactions.data.flatMap(one => {
        const session = sessions.get(one.sessionId);
        return session === undefined ? [] : [transactionBody(one, session, extrasOf(one.id))];
      });
      return {
        status: 200,
        body: sortedList('/api/v1/transactions', { ...transactions, data }, body => body),
      };
    },

    async getPaymentTransaction({ path: { transaction_id } }, caller) {
      const transaction = await transactionStore(db).find(caller, transaction_id);
      if (transaction === undefined) throw resourceNotFound('transaction', transaction_id);
      const session = await sessionStore(db, seals).findById(transaction.sessionId);
      if (session === undefined) throw resourceNotFound('transaction', transaction_id);
      const extrasOf = await extras(db, [transaction]);
      return { status: 200, body: transactionBody(transaction, session, extrasOf(transaction.id)) };
    },

    async getPaymentTransactionProof({ path: { transaction_id: id } }, caller) {
      const transaction = await transactionStore(db).find(caller, id);
      if (transaction === undefined) throw resourceNotFound('transaction', id);
      const { chainId, txHash: hash, blockNumber, blockHash } = transaction;
      if (hash === null || blockNumber === null || blockHash === null)
        throw paymentsError('resource_not_found', `Transaction ${id} is in no block.`);
      const body = await readProof({ chainId, hash, blockNumber, blockHash });
      if (!('reason' in body)) return { status: 200, body };
      throw new HttpError(501, `There is no proof: ${body.reason}.`, { code: 'internal_error' });
    },

    async listTransactionCandidates({ path: { transaction_id: id } }, caller) {
      const transaction = await transactionStore(db).find(caller, id);
      if (transaction === undefined) throw resourceNotFound('transaction', id);
      const { sender, blockTime, createdAt, sessionId: exceptSessionId } = transaction;
      const seen = { sender: sender ?? '', blockTime: blockTime ?? createdAt, exceptSessionId };
      const path = `/api/v1/transactions/${id}/candidates`;
      const sought = { path, transfer: { ...transaction, ...seen } };
      return { status: 200, body: await candidateList(context, caller, sought) };
    },

    movePaymentTransaction: ({ path: { transaction_id: id }, body: { session_id, reason } }, caller) =>
      caller.commit(async handle => {
        const transaction = await transactionStore(handle).find(caller, id);
        if (transaction === undefined) throw resourceNotFound('transaction', id);
        const session = await sessionStore(handle, seals).find(caller, session_id);
        if (session === undefined) throw resourceNotFound('checkout_session', session_id);
        if (session.id === transaction.sessionId)
          throw new InvalidBody('session_id', 'must be another session than its own');
        if (!isToAddressOf(session, transaction)) throw otherAddress();
        const decision = { actor: caller.actor, reason: reason?.trim() ?? null };
        const settle = settlement({ handle, seals, now: clock.now() });
        const result = await settle.reassign(transaction.id, session, decision);
        if ('refusal' in result) {
          const message = `The transaction ${result.refusal}, so it cannot be moved.`;
          throw paymentsError('invalid_status_transition', message);
        }
        const extrasOf = await extras(handle, [result.transaction]);
        return { status: 200, body: transactionBody(result.transaction, session, extrasOf(id)) };
      }),

    async exportPaymentTransactions({ query }, caller) {
      const search = searchOf(query, caller, chains);
      return exportOf(context, search, filtersOf(query));
    },
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportPaymentTransactions']>['query'];

function filtersOf({ status, mark, token_address, ...others }: Omit<Query, 'format'>) {
  const { chain_id, payment_link_id, session_id, moved_from, ...period } = others;
  return {
    status,
    mark,
    chainId: chain_id,
    tokenAddress: token_address && normalToken(token_address),
    paymentLinkId: payment_link_id,
    sessionId: session_id,
    movedFrom: moved_from,
    ...periodOf(period),
  };
}

/** Moves and sweeps of transactions, by id. */
async function extras(handle: Handle, transactions: readonly PaymentTransaction[]) {
  const movesOf = await transactionStore(handle).movesOf(transactions);
  const hashes = await sweepStore(handle).hashesOf(transactions);
  return (id: string) => ({ moves: movesOf(id), sweepTxHash: hashes.get(id) });
}
