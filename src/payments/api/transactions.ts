import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsHandlers, PaymentsOperations } from '../../contract/contracts/payments.ts';
import type { CheckoutSession } from '../model/session.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { AnonymousCaller, ApiCaller, PaymentsContext } from './gate/api-context.ts';
import { notFound, pagedList, periodOf } from './responses/answers.ts';
import { transactionBody } from './responses/record-bodies.ts';
import { exportOf } from './responses/transactions-csv.ts';

type TransactionHandlers = Pick<
  PaymentsHandlers<ApiCaller, AnonymousCaller>,
  'listPaymentTransactions' | 'getPaymentTransaction' | 'exportPaymentTransactions'
>;

/** What came in for sessions. Decision 111. */
export function transactionHandlers({ db, seals }: PaymentsContext): TransactionHandlers {
  return {
    async listPaymentTransactions({ query }, caller) {
      const { page, limit } = query;
      const transactions = await transactionStore(db).list(caller, filtersOf(query), { page, limit });
      const ids = transactions.data.map(({ sessionId }) => sessionId);
      const sessions = await sessionStore(db, seals).findMany(ids);
      const body = pagedList('/api/v1/transactions', transactions, one =>
        transactionBody(one, sessionOf(sessions, one.sessionId)),
      );
      return { status: 200, body };
    },

    async getPaymentTransaction({ path: { transaction_id } }, caller) {
      const transaction = await transactionStore(db).find(caller, transaction_id);
      if (transaction === undefined) throw notFound('transaction', transaction_id);
      const sessions = await sessionStore(db, seals).findMany([transaction.sessionId]);
      const body = transactionBody(transaction, sessionOf(sessions, transaction.sessionId));
      return { status: 200, body };
    },

    async exportPaymentTransactions({ query }, caller) {
      return { status: 200, body: await exportOf(transactionStore(db), caller, filtersOf(query)) };
    },
  };
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

/** Sessions are never removed, so a transaction without one is a broken database. */
function sessionOf(sessions: ReadonlyMap<string, CheckoutSession>, id: string): CheckoutSession {
  const session = sessions.get(id);
  if (session === undefined) throw new Error(`No session ${id}, which has transactions.`);
  return session;
}
