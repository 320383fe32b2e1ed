import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { lookUpHash } from '#payments/sessions/reported-hash-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { select } from '#payments/tables/select.ts';
import type { EffectName } from '#payments/watcher/look/look.ts';
import { text } from '../../lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { until } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { someHash } from '../../support/payments-api.ts';
import type { WatcherOrder } from '../../support/watcher-process.ts';
import { BLOCKS_TO_SETTLE, paymentChain, SECRET, type Shop, seals, shop } from './setting.ts';

const PROGRAM = fileURLToPath(new URL('../../support/watcher-process.ts', import.meta.url));
/** Every change of a round, in order, and the expiry of sessions. */
const CHANGES = Object.keys({
  record: true,
  confirm: true,
  claims: true,
  reports: true,
  reorgs: true,
  unmatched: true,
  refunds: true,
  settled: true,
  expiry: true,
} satisfies Record<EffectName | 'expiry', true>);
const STEPS = [
  ...['look', 'head', 'scan'],
  ...CHANGES.flatMap(change => [`before ${change}`, `inside ${change}`, `after ${change}`]),
];

bothDatabases('kills', databases => {
  test('a watcher killed at any step and restarted settles everything exactly once', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await using ours = await begin(chain, await databases.create('payments'));
    const { order } = ours;
    const paid: string[] = [];
    const expired: string[] = [];
    const reverted: string[] = [];
    const dropped: string[] = [];
    const refunded: string[] = [];
    const reported: string[] = [];
    const endings: string[] = [];

    for (const [index, step] of STEPS.entries()) {
      if (step.endsWith('reorgs'))
        dropped.push(await dropPayment(chain, ours, () => watch({ ...order, killAt: null })));
      paid.push(await pay(chain, ours));
      expired.push((await ours.open({ expiresAt: Date.now() - 60_000, amount: 9_000_000n })).id);
      reverted.push(await revert(chain, ours));
      refunded.push(await refund(chain, ours));
      reported.push(await report(ours, paid.at(-1)));
      await chain.pay({ from: 3, to: ours.recipient, amount: BigInt(index + 1) });
      await chain.mine(BLOCKS_TO_SETTLE);
      endings.push(await watch({ ...order, killAt: step }));
    }
    const last = await watch({ ...order, killAt: null });

    const statuses = async (ids: readonly string[]) =>
      Promise.all(ids.map(async id => (await ours.session(id)).status));
    const events = Object.groupBy(await ours.events(), type => type);
    const listed = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 100 });
    const lost = await Promise.all(dropped.map(id => ours.session(id)));
    expect(endings).toEqual(STEPS.map(() => 'SIGKILL'));
    expect(last).toBe('0');
    expect(await statuses(paid)).toEqual(paid.map(() => 'completed'));
    expect(await statuses(expired)).toEqual(expired.map(() => 'expired'));
    expect(lost.map(one => [one.status, one.isReorged])).toEqual(dropped.map(() => ['completed', true]));
    expect(listed.data.map(one => Number(one.amount)).sort((a, b) => a - b)).toEqual(
      STEPS.map((_, index) => index + 1),
    );
    expect(await Promise.all(reported.map(hash => found(ours, hash)))).toEqual(reported.map(() => 'unknown'));
    expect(await transactionStore(ours.db).open(chain.chainId)).toEqual([]);
    expect(Object.fromEntries(Object.entries(events).map(([type, all]) => [type, all?.length]))).toEqual({
      'payment.completed': paid.length + dropped.length,
      'checkout.completed': paid.length + dropped.length,
      'payment.failed': reverted.length + dropped.length,
      'checkout.expired': expired.length,
      'refund.created': refunded.length,
      'refund.completed': refunded.length,
      // Within an hour, of transfers that may be meant for no session (Decision 356).
      'transfer.unmatched': 10,
    });
  }, 180_000);

  test('a paused watcher loses its lease and changes nothing when it resumes', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await using ours = await begin(chain, await databases.create('payments'));
    const { order } = ours;
    const session = await pay(chain, ours);
    await chain.mine(BLOCKS_TO_SETTLE);

    const stopped = spawn(
      process.execPath,
      [PROGRAM, JSON.stringify({ ...order, killAt: 'before record', signal: 'SIGSTOP' })],
      { stdio: 'inherit' },
    );
    const ended = once(stopped, 'exit');
    await until(
      async () => readFile(`/proc/${stopped.pid}/stat`, 'utf8').catch(() => ''),
      stat => / T /.test(stat),
    );
    const before = await ours.session(session);
    const other = await watch({ ...order, killAt: null });
    const settled = await ours.session(session);
    stopped.kill('SIGCONT');
    const [code] = await ended;

    expect(before.paymentStatus).toBe('awaiting_payment');
    expect(other).toBe('0');
    expect(settled.status).toBe('completed');
    expect(code).toBe(0);
    expect(await ours.payments(session)).toHaveLength(1);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });
});

/** A shop on a migrated database, with the arguments of a watcher process for it. */
async function begin(chain: TestPaymentChain, database: DatabaseOptions) {
  const watched = paymentChain(chain);
  const ours = await shop(database, systemClock, watched);
  const { explorerUrl: _, ...plain } = watched;
  return {
    ...ours,
    order: { database, rpcUrl: chain.rpcUrl, chain: plain, secret: SECRET },
    [Symbol.asyncDispose]: ours.close,
  };
}

/** Runs a watcher process; returns its exit code or the signal that killed it. */
async function watch(order: WatcherOrder): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], { stdio: 'inherit' });
  const [code, signal] = await once(child, 'exit');
  return `${signal ?? code}`;
}

/** Has a hash looked up that the chain does not have. */
async function report(ours: Shop, sessionId: string | undefined): Promise<string> {
  const hash = someHash();
  const session = await ours.session(text(sessionId));
  await transaction(ours.db, handle => lookUpHash(handle, session, hash, Date.now()));
  return hash;
}

/** Answer that the watchers stored for a hash. */
async function found({ db }: Shop, hash: string): Promise<string | undefined> {
  const rows = await select({ from: 'reported_hashes', columns: ['status'] }).rows(db, 'where tx_hash = ?', [
    hash,
  ]);
  return rows[0]?.status;
}

async function pay(
  chain: TestPaymentChain,
  ours: Shop,
  { from = 1, amount = 5_000_000n } = {},
): Promise<string> {
  const session = await ours.open({ amount });
  await chain.pay({ from, to: ours.recipient, amount: session.amountDue });
  return session.id;
}

/** Claims a transaction that fails. */
async function revert(chain: TestPaymentChain, ours: Shop): Promise<string> {
  const session = await ours.open({ amount: 7_000_000n });
  await ours.bind(session.id, `${chain.accounts[2]}`);
  const hash = await chain.pay({ from: 2, to: ours.recipient, amount: 10n ** 18n });
  await ours.claim(session.id, hash);
  return session.id;
}

/** Names a transaction that completes a refund. */
async function refund(chain: TestPaymentChain, ours: Shop): Promise<string> {
  const asked = aRefund(ours.owner, {
    tokenAddress: chain.token.toLowerCase(),
    createdAt: systemClock.now(),
  });
  const hash = await chain.pay({ from: 4, to: asked.destination, amount: asked.amount });
  await transaction(ours.db, async handle => {
    const moves = refundMoves({ handle, seals, now: systemClock.now() });
    await moves.create(asked);
    await moves.name(asked.id, hash, asked.createdBy);
  });
  return asked.id;
}

/** Settles a payment whose block the chain then drops for good. */
async function dropPayment(
  chain: TestPaymentChain,
  ours: Shop,
  settle: () => Promise<string>,
): Promise<string> {
  const before = await chain.snapshot();
  // A distinct account and amount: an identical transaction would count as the dropped one.
  const amount = 10_000_000n + BigInt(await chain.head());
  const id = await pay(chain, ours, { from: 6, amount });
  await chain.mine(BLOCKS_TO_SETTLE);
  await settle();
  await chain.fork(before, 2 * BLOCKS_TO_SETTLE);
  return id;
}
