import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsOperations, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { faultError, paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import { missing, notNow } from '../model/fault.ts';
import { brokenDestinationRule, isProved, REFUND_LIFETIME_MS, type Refund } from '../model/refund.ts';
import { refundMoves } from '../refunds/refund-moves.ts';
import { type RefundFilters, refundStore } from '../refunds/refund-store.ts';
import {
  type KnownDestination,
  moneyOfSession,
  moneyOfTransfer,
  provedDestination,
  type RefundableMoney,
} from '../refunds/refundable-money.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { settlement } from '../settlement/settlement.ts';
import { cursorStore } from '../store/cursor-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { transferStore } from '../store/transfer-store.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { pagedList, periodOf, resourceNotFound } from './responses/answers.ts';
import { optionsBody, refundBody } from './responses/refund-bodies.ts';
import { refundsCsv } from './responses/refunds-csv.ts';

/** Operations on refunds, which a wallet of the merchant sends (Decisions 350 to 352). */
export function refundHandlers({ db, seals, clock, chains }: PaymentsContext) {
  return {
    async listRefunds({ query }, caller) {
      const { page, limit } = query;
      const refunds = await refundStore(db).list(caller, filtersOf(query), { page, limit });
      return { status: 200, body: pagedList('/api/v1/refunds', refunds, refundBody) };
    },

    async exportRefunds({ query }, caller) {
      return refundsCsv(refundStore(db), caller, filtersOf(query));
    },

    async getRefund({ path: { refund_id } }, caller) {
      return { status: 200, body: refundBody(await refundOf(db, caller, refund_id)) };
    },

    async getRefundOptions({ query }, caller) {
      const named = Object.values(query).filter(id => id !== undefined).length;
      if (named !== 1) {
        const message = "Name one of 'session_id', 'transaction_id' and 'unmatched_transfer_id'.";
        throw paymentsError('invalid_field_value', message);
      }
      return { status: 200, body: optionsBody(await moneyOf(db, { seals, caller, named: query })) };
    },

    createRefund: ({ body }, caller) =>
      caller.commit(async handle => {
        const money = await moneyOf(handle, { seals, caller, named: body });
        const chain = chains.find(caller.mode, money.chainId);
        if (chain === undefined) throw faultError(notNow(`Chain ${money.chainId} is no longer configured.`));
        const amount = amountOf(body, money);
        const { address: destination, source } = destinationOf(body, money);
        const { sessionId, transactionId, unmatchedTransferId, tokenAddress, recipientAddress } = money;
        const now = clock.now();
        const refund: Refund = {
          id: newId('re'),
          organizationId: caller.organizationId,
          mode: caller.mode,
          status: 'requires_action',
          sessionId,
          transactionId,
          unmatchedTransferId,
          chainId: chain.id,
          tokenAddress,
          amount,
          recipient: recipientAddress,
          destination,
          destinationSource: source,
          ...UNSENT,
          requiredConfirmations: chain.confirmations,
          reason: body.reason ?? null,
          createdBy: caller.actor,
          afterBlock: (await cursorStore(handle).find(chain.id))?.blockNumber ?? null,
          expiresAt: now + REFUND_LIFETIME_MS,
          createdAt: now,
          updatedAt: now,
        };
        await refundMoves({ handle, seals, now }).create(refund);
        return { status: 201, body: refundBody(refund) };
      }),

    cancelRefund: ({ path: { refund_id }, body }, caller) =>
      caller.commit(async handle => {
        const refund = await refundOf(handle, caller, refund_id);
        const moves = refundMoves({ handle, seals, now: clock.now() });
        const cancelled = await moves.cancel(refund.id, caller.actor, body.reason ?? null);
        if (cancelled === undefined)
          throw faultError(notNow(`${stateOf(refund)}, so it cannot be cancelled.`));
        const { sessionId } = cancelled;
        if (sessionId !== null)
          await settlement({ handle, seals, now: clock.now() }).recount(sessionId, chains);
        return { status: 200, body: refundBody(cancelled) };
      }),

    completeRefund: ({ path: { refund_id }, body: { tx_hash } }, caller) =>
      caller.commit(async handle => {
        const refund = await refundOf(handle, caller, refund_id);
        const moves = refundMoves({ handle, seals, now: clock.now() });
        const pending = await moves.name(refund.id, tx_hash.toLowerCase(), caller.actor);
        if (pending === undefined)
          throw faultError(notNow(`${stateOf(refund)}, so its transaction cannot be named.`));
        return { status: 200, body: refundBody(pending) };
      }),
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportRefunds']>['query'];

function filtersOf({
  status,
  session_id,
  unmatched_transfer_id,
  chain_id,
  ...period
}: Omit<Query, 'format'>): RefundFilters {
  return {
    status,
    sessionId: session_id,
    unmatchedTransferId: unmatched_transfer_id,
    chainId: chain_id,
    ...periodOf(period),
  };
}

const UNSENT = {
  txHash: null,
  logIndex: null,
  blockNumber: null,
  blockHash: null,
  confirmations: 0,
  failureReason: null,
  completedBy: null,
  cancelledBy: null,
  cancelledReason: null,
  searchedSince: null,
  completedAt: null,
  cancelledAt: null,
} as const;

async function refundOf(handle: Handle, caller: ApiCaller, id: string): Promise<Refund> {
  const refund = await refundStore(handle).find(caller, id);
  if (refund === undefined) throw resourceNotFound('refund', id);
  return refund;
}

interface NamedMoney {
  readonly session_id?: string | undefined;
  readonly transaction_id?: string | undefined;
  readonly unmatched_transfer_id?: string | undefined;
}

/** The money that a request names. @throws HttpError 404 for an unknown record, 400 for one that has no confirmed money */
async function moneyOf(
  handle: Handle,
  { seals, caller, named }: { seals: Seals; caller: ApiCaller; named: NamedMoney },
): Promise<RefundableMoney> {
  const { session_id: sessionId, transaction_id: transactionId, unmatched_transfer_id: transferId } = named;
  if (transferId !== undefined) {
    if (sessionId !== undefined || transactionId !== undefined) {
      throw new InvalidBody(
        'unmatched_transfer_id',
        "must not be used with 'session_id' or 'transaction_id'",
      );
    }
    const transfer = await transferStore(handle).find(caller, transferId);
    if (transfer === undefined) throw resourceNotFound('unmatched_transfer', transferId);
    if (transfer.assignedAt !== null)
      throw faultError(notNow('The transfer is assigned: refund its session.'));
    if (transfer.confirmedAt === null)
      throw faultError(notNow('The transfer waits for the receipt of its transaction.'));
    return moneyOfTransfer(handle, transfer);
  }
  if (transactionId === undefined) {
    if (sessionId === undefined) throw faultError(missing('session_id'));
    const session = await sessionStore(handle, seals).find(caller, sessionId);
    if (session === undefined) throw resourceNotFound('checkout_session', sessionId);
    return moneyOfSession(handle, session);
  }
  const transaction = await transactionStore(handle).find(caller, transactionId);
  if (transaction === undefined) throw resourceNotFound('transaction', transactionId);
  if (sessionId !== undefined && sessionId !== transaction.sessionId) {
    throw new InvalidBody('transaction_id', "must be a transaction of the session 'session_id'");
  }
  const session = await sessionStore(handle, seals).find(caller, transaction.sessionId);
  if (session === undefined) throw resourceNotFound('transaction', transactionId);
  return moneyOfSession(handle, session, transaction);
}

type Creation = PaymentsSchemas['RefundCreation'];

function amountOf({ amount }: Pick<Creation, 'amount'>, { refundable }: RefundableMoney): bigint {
  if (refundable <= 0n) throw faultError(notNow('No confirmed money is left that could be refunded.'));
  const wanted = amount === undefined ? refundable : BigInt(amount);
  if (wanted > refundable) throw new InvalidBody('amount', `must be at most ${refundable}`);
  return wanted;
}

/** The destination of a new refund (Decision 351). @throws HttpError 400 for one that is neither proved nor typed twice */
function destinationOf(
  { destination_address: given, destination_confirmation: again }: Creation,
  money: RefundableMoney,
): KnownDestination {
  const proved = provedDestination(money);
  if (given === undefined) {
    if (proved !== undefined) return proved;
    throw faultError(missing('destination_address'));
  }
  const address = given.toLowerCase();
  const rule = brokenDestinationRule(address, money);
  if (rule !== undefined) throw new InvalidBody('destination_address', rule);
  const known = money.destinations.find(one => one.address === address) ?? {
    address,
    source: 'merchant' as const,
    previousAddress: null,
  };
  if (again === undefined && !isProved(known.source)) throw faultError(missing('destination_confirmation'));
  if (again !== undefined && again.toLowerCase() !== address) {
    throw new InvalidBody('destination_confirmation', "must be the same address as 'destination_address'");
  }
  return known;
}

function stateOf({ status, blockNumber }: Refund): string {
  if (status !== 'pending') return `The refund is ${status}`;
  return blockNumber === null
    ? 'The transaction of the refund is being looked for'
    : 'The transaction of the refund is being confirmed';
}
