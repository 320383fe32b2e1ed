import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsOperations } from '../../contract/contracts/payments.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { pagedList, periodOf, resourceNotFound } from './responses/answers.ts';
import { transactionBody } from './responses/record-bodies.ts';
import { exportOf } from './responses/transactions-csv.ts';

/** Operations on transactions: transfers that were matched with sessions (Decision 111). */
export function transactionHandlers({ db, seals }: PaymentsContext) {
  return {
    async listPaymentTransactions({ query }, caller) {
      const { page, limit } = query;
      const transactions = await transactionStore(db).list(caller, filtersOf(query), { page, limit });
      const ids = transactions.data.map(({ sessionId }) => sessionId);
      const sessions = await sessionStore(db, seals).findMany(ids);
      // Retention may have removed a session and its transactions since they were read.
      const data = transactions.data.flatMap(one => {
        const session = sessions.get(one.sessionId);
        return session === undefined ? [] : [transactionBody(one, session)];
      });
      return {
        status: 200,
        body: pagedList('/api/v1/transactions', { ...transactions, data }, body => body),
      };
    },

    async getPaymentTransaction({ path: { transaction_id } }, caller) {
      const transaction = await transactionStore(db).find(caller, transaction_id);
      if (transaction === undefined) throw resourceNotFound('transaction', transaction_id);
      const session = await sessionStore(db, seals).findById(transaction.sessionId);
      if (session === undefined) throw resourceNotFound('transaction', transaction_id);
      return { status: 200, body: transactionBody(transaction, session) };
    },

    async exportPaymentTransactions({ query }, caller) {
      return { status: 200, body: await exportOf(transactionStore(db), caller, filtersOf(query)) };
    },
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportPaymentTransactions']>['query'];

function filtersOf({ status, chain_id, payment_link_id, session_id, ...period }: Omit<Query, 'format'>) {
  return {
    status,
    chainId: chain_id,
    paymentLinkId: payment_link_id,
    sessionId: session_id,
    ...periodOf(period),
  };
}
