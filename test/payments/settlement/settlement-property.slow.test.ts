import fc from 'fast-check';
import { expect } from 'vitest';
import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { eventStore } from '#payments/events/event-store.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { PaymentTransaction } from '#payments/model/payment-transaction.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import type { Transfer } from '#payments/model/transfer.ts';
import { foundTransactions } from '#payments/search/transaction-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { type Settlement, settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { aLink, anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const ALL = { page: 1, limit: 1000 };
const MINUTE_MS = 60_000;
/** One percent: one of the transfers below, and the sum of two of them, is the price less a part of that. */
const TOLERANCE_BPS = 100;

/** Three sessions, two of them of one link with a single use, and transfers of two payers, two with one hash. */
interface World {
  readonly owner: Owner;
  readonly linkId: string;
  readonly sessions: readonly CheckoutSession[];
  readonly transfers: readonly Transfer[];
}

interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly session: number;
  readonly transfer: number;
  readonly block: number;
  readonly matchedBy: 'wallet' | 'amount';
  readonly minutes: number;
}

const KINDS = [
  ...(['sight', 'sight', 'sight', 'complete', 'complete', 'complete', 'fail', 'orphan', 'reorg'] as const),
  ...(['claim', 'follow', 'expire', 'expireDue', 'endSessionsOf', 'accept'] as const),
];

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(...KINDS),
    session: fc.nat(2),
    transfer: fc.nat(5),
    block: fc.nat(2),
    matchedBy: fc.constantFrom('wallet', 'amount'),
    minutes: fc.integer({ min: 0, max: 12 }),
  }),
  { minLength: 5, maxLength: 30 },
);

/** All stored records of a world. */
interface State {
  readonly sessions: readonly CheckoutSession[];
  readonly transactions: readonly PaymentTransaction[];
  readonly events: readonly { readonly type: string; readonly of: string; readonly time: number }[];
  readonly uses: number | undefined;
}

eachPaymentsDatabase('in any sequence of payment steps', test => {
  test('each transfer pays once, each checkout counts once, and no ended session becomes active again but of a sold-out link', async ({
    db,
  }) => {
    await fc.assert(
      fc.asyncProperty(steps, async list => {
        const world = await begun(db);
        let before = await stateOf(db, world);
        let now = RECORD_TIME + MINUTE_MS;
        for (const step of list) {
          now += step.minutes * MINUTE_MS + 1;
          const take = () =>
            transaction(db, handle =>
              taken(settlement({ handle, seals: SEALED, now }), handle, world, step, now),
            );
          await take();
          const after = await stateOf(db, world);
          checkKept(after);
          checkMoved(before, after);

          await take();
          expect(await stateOf(db, world)).toEqual(after);
          before = after;
        }
      }),
      { numRuns: db.dialect.name === 'sqlite' ? 60 : 6 },
    );
  });
});

/** Each world has its own chain, so only its own sessions can become due. */
let worlds = 0;

async function begun(db: Db): Promise<World> {
  const organization = anOrganization();
  await organizationStore(db).insert(organization);
  const owner: Owner = { organizationId: organization.id, mode: 'test' };
  const link = aLink(owner, { maxUses: 1 });
  await linkStore(db).insert(link);
  worlds += 1;
  const chainId = 40_000 + worlds;
  const sessions = await transaction(db, async handle => {
    const opened: CheckoutSession[] = [];
    for (const paymentLinkId of [link.id, link.id, null]) {
      const draft = aSession(owner, { paymentLinkId, chainId, toleranceBps: TOLERANCE_BPS });
      opened.push(await sessionStore(handle, SEALED).open(draft));
    }
    return opened;
  });
  const amounts = [2_500_000n, 2_480_000n, 1_250_000n, 1_230_000n, 1_300_000n, 9_000_000n];
  const transfers = amounts.map((amount, index) =>
    aTransfer({
      amount,
      chainId,
      sender: index % 3 === 2 ? `0x${'bb'.repeat(20)}` : `0x${'aa'.repeat(20)}`,
    }),
  );
  // The last transfer is in the same transaction as the one before it.
  const shared = transfers[4]?.txHash ?? '';
  return {
    owner,
    linkId: link.id,
    sessions,
    transfers: transfers.map((one, index) => (index === 5 ? { ...one, txHash: shared, logIndex: 4 } : one)),
  };
}

async function taken(
  settle: Settlement,
  handle: Transaction,
  world: World,
  step: Step,
  now: number,
): Promise<void> {
  const session = world.sessions[step.session];
  const planned = world.transfers[step.transfer];
  if (session === undefined || planned === undefined) throw new Error('a step outside of its world');
  const transfer: Transfer = {
    ...planned,
    blockNumber: 100 + step.block,
    blockHash: hash(7000 + step.block),
    blockTime: now - MINUTE_MS,
  };
  const recorded = await transactionStore(handle).byHash(transfer.chainId, transfer.txHash);
  const ids = recorded.map(({ id }) => id);
  switch (step.kind) {
    case 'sight':
      await settle.recordTransfer(session, transfer, { matchedBy: step.matchedBy, confirmations: 1 });
      break;
    case 'complete':
      for (const id of ids) await settle.complete(id);
      break;
    case 'fail':
      for (const id of ids) await settle.fail(id, 'not_found');
      break;
    case 'orphan':
      for (const id of ids) await settle.orphan(id);
      break;
    case 'reorg':
      for (const id of ids) await settle.reorg(id);
      break;
    case 'claim':
      await settle.claim(session, transfer.txHash);
      break;
    case 'follow':
      for (const id of ids) await settle.follow(id, hash(9_000_000 + step.transfer));
      break;
    case 'expire':
      await settle.expire(session.id);
      break;
    case 'expireDue':
      await settle.expireDue({ chainId: session.chainId, until: now, limit: 10 });
      break;
    case 'accept':
      await settle.accept(session, { actor: 'api_key:ak_1', reason: null });
      break;
    case 'endSessionsOf':
      await settle.endSessionsOf(world.linkId);
      break;
  }
}

async function stateOf(db: Db, { owner, linkId }: World): Promise<State> {
  const [sessions, transactions, events, link] = await Promise.all([
    sessionStore(db, SEALED).list(owner, {}, ALL),
    foundTransactions(
      { handle: db, seals: SEALED },
      { owner, text: undefined },
      {},
      { page: 1, limit: 1000 },
    ),
    eventStore(db, SEALED).list(owner, { since: 0 }, ALL),
    linkStore(db).find(owner, linkId),
  ]);
  return {
    sessions: sessions.data,
    transactions: transactions.data,
    events: events.data
      .map(({ type, data, createdAt }) => ({
        type,
        of: type === 'checkout.completed' ? sessionIn(data) : data.id,
        time: createdAt,
      }))
      .reverse(),
    uses: link?.currentUses,
  };
}

function sessionIn(data: object): string {
  return 'session_id' in data ? String(data.session_id) : '';
}

const ENDS = ['checkout.completed', 'checkout.expired'];

/** Invariants of every state. */
function checkKept({ sessions, transactions, events, uses }: State): void {
  for (const session of sessions) {
    const own = transactions.filter(one => one.sessionId === session.id);
    const received = own.filter(one => one.status === 'completed').reduce((sum, one) => sum + one.amount, 0n);
    // Events about late, partial and excess money come with those of the payments.
    const told = events
      .filter(({ of, type }) => of === session.id && ENDS.includes(type))
      .map(({ type }) => type);
    expect(session.amountReceived).toBe(received);
    // A session that was sold out may have become active again, and reports its next expiry no second time.
    const ends = told.filter(type => type !== 'checkout.expired');
    expect(ends).toEqual(session.status === 'completed' ? ['checkout.completed'] : []);
    expect(told.length - ends.length).toBeLessThanOrEqual(1);
    if (session.status === 'expired') expect(told).toEqual(['checkout.expired']);
    expect(session.endedReason !== null).toBe(session.status === 'expired');
    expect(session.transactionId !== null).toBe(session.status === 'completed');
    expect(session.endedAt !== null).toBe(session.status !== 'active');
    const isConfirming = own.some(one => one.status === 'confirming');
    if (session.status !== 'completed') expect(session.paymentStatus === 'confirming').toBe(isConfirming);
    if (session.status === 'completed' && !session.isReorged) {
      expect(own.find(one => one.id === session.transactionId)?.status).toBe('completed');
      const least = own.some(one => one.status === 'completed' && one.matchedBy === 'wallet')
        ? (session.amount * (10_000n - BigInt(TOLERANCE_BPS))) / 10_000n
        : session.amount;
      expect(session.amountReceived).toBeGreaterThanOrEqual(session.acceptedAmount ?? least);
    }
    const beyond = session.amountReceived - (session.acceptedAmount ?? session.amount);
    expect(session.amountOverpaid).toBeLessThanOrEqual(beyond > 0n ? beyond : 0n);
  }
  const sold = sessions.filter(one => one.paymentLinkId !== null && one.status === 'completed');
  expect(uses).toBe(sold.filter(one => !one.isReorged).length);
  for (const one of transactions) {
    const told = events.filter(({ of }) => of === one.id).map(({ type }) => type);
    // Events alternate between completed and failed; only a failed payment may fail again.
    for (const [index, type] of told.entries()) {
      if (type === 'payment.completed') expect(told[index - 1]).not.toBe('payment.completed');
    }
    if (one.status === 'completed') expect(told.at(-1)).toBe('payment.completed');
    if (one.status === 'failed') expect(told.at(-1)).toBe('payment.failed');
    expect(one.isLate || one.isDuplicate || one.status !== 'completed' || one.amount > 0n).toBe(true);
  }
  const places = transactions
    .filter(one => one.logIndex !== null)
    .map(one => `${one.txHash} ${one.logIndex}`);
  expect(new Set(places).size).toBe(places.length);
}

/** Invariants of every transition. */
function checkMoved(before: State, after: State): void {
  for (const earlier of before.sessions) {
    const later = after.sessions.find(one => one.id === earlier.id);
    const isAccepted = later?.acceptedAt !== earlier.acceptedAt;
    const isFinal = earlier.status !== 'active' && earlier.endedReason !== 'sold_out';
    if (isFinal) expect(later?.status).toBe(isAccepted ? 'completed' : earlier.status);
    if (earlier.endedReason === 'sold_out' && !isAccepted) expect(later?.status).not.toBe('completed');
  }
  for (const earlier of before.transactions) {
    const later = after.transactions.find(one => one.id === earlier.id);
    expect(later?.sessionId).toBe(earlier.sessionId);
    if (earlier.status === 'completed') expect(['completed', 'failed']).toContain(later?.status);
  }
  expect(after.events.slice(0, before.events.length)).toEqual(before.events);
}
