import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { CheckoutSession } from './session.ts';

export type Outcome = PaymentsSchemas['Outcome'];

/** Facts of a session from which its outcome follows. */
export type OutcomeFacts = Pick<
  CheckoutSession,
  'status' | 'paymentStatus' | 'amountOverpaid' | 'isReorged' | 'failureReason' | 'endedReason'
>;

type RuleFacts = Omit<OutcomeFacts, 'amountOverpaid'> & { readonly isOverpaid: boolean };

/**
 * The only place that decides the outcome of a session (Decision 340): that of the first rule whose facts it has. Without
 * one it is `waiting`.
 */
const RULES: readonly (readonly [Outcome, Partial<RuleFacts>])[] = [
  ['dropped', { status: 'completed', isReorged: true }],
  ['overpaid', { status: 'completed', isOverpaid: true }],
  ['paid', { status: 'completed' }],
  ['confirming', { paymentStatus: 'confirming' }],
  ['paid_sold_out', { paymentStatus: 'paid', endedReason: 'sold_out' }],
  ['paid_unproven', { paymentStatus: 'paid', endedReason: 'unproven' }],
  ['paid_late', { paymentStatus: 'paid' }],
  ['partial', { paymentStatus: 'underpaid' }],
  ['dropped', { paymentStatus: 'failed', failureReason: 'reorged' }],
  ['sold_out', { endedReason: 'sold_out' }],
  ['failed', { paymentStatus: 'failed' }],
  ['expired', { status: 'expired' }],
];
const OTHERWISE = 'waiting';

/** The facts as columns of a session, or as conditions for those that are true or false. `'010'` is the amount 0. */
const COLUMNS: Readonly<Record<keyof RuleFacts, string>> = {
  status: 'status',
  paymentStatus: 'payment_status',
  failureReason: 'failure_reason',
  endedReason: 'ended_reason',
  isReorged: 'is_reorged',
  isOverpaid: "amount_overpaid <> '010'",
};

/** Outcome of a session: the state of its money. */
export function outcomeOf({ amountOverpaid, ...facts }: OutcomeFacts): Outcome {
  const known: Partial<RuleFacts> = { ...facts, isOverpaid: amountOverpaid > 0n };
  const rule = RULES.find(([, named]) => isSubset(named, known));
  return rule === undefined ? OTHERWISE : rule[0];
}

function isSubset(named: object, known: object): boolean {
  return Object.entries(named).every(([name, value]) => Reflect.get(known, name) === value);
}

/** Outcome of a session in SQL. The index `sessions_by_outcome` has exactly this text. */
export const OUTCOME_SQL = `case ${RULES.map(([outcome, named]) => `when ${conditionOf(named)} then '${outcome}'`).join(' ')} else '${OTHERWISE}' end`;

function conditionOf(named: Partial<RuleFacts>): string {
  const conditions = Object.entries(named).map(([name, value]) => {
    const column = Reflect.get(COLUMNS, name);
    return value === true ? column : `${column} = '${value}'`;
  });
  return conditions.join(' and ');
}

/** Outcomes of an open session that its payer may still pay. */
const PAYABLE: readonly Outcome[] = ['waiting', 'partial', 'failed', 'dropped'];

/**
 * True when what the payer sends in time counts (Decision 341). `hasUse` is false when its link has no use left for it.
 */
export function acceptsPayment(
  session: OutcomeFacts,
  { hasUse, isChainLate }: { readonly hasUse: boolean; readonly isChainLate: boolean },
): boolean {
  return session.status === 'active' && hasUse && !isChainLate && PAYABLE.includes(outcomeOf(session));
}
