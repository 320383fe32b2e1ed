import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from './member.ts';

/** Distance of the wrong clock. The life of a checkout is shorter, and so is every lease. */
const CLOCK_AHEAD_MS = 40 * 60_000;
/** Longest time without a leader after `kill -9`: a lease of 20 s, and the round of the next leader. */
const TAKEOVER_WITHIN_MS = 35_000;
const LOOK_EVERY_MS = 250;
const WARNING = 'the clock of this machine is 2400 s ahead';

interface WrongClock {
  /** The process whose clock will be wrong. */
  readonly wrong: Member;
  /** The other processes of its role. */
  readonly others: readonly Member[];
  /** Number of chains that a process leads. */
  readonly leads: (member: Member) => Promise<number>;
  readonly violation: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Lets one process lead whose clock is 40 minutes ahead, and kills it. It has to say that its clock is wrong, and the
 * others have to take over as quickly as from any other process. All run with right clocks in the end.
 */
export async function leadByWrongClock({
  wrong,
  others,
  leads,
  violation,
  signal,
}: WrongClock): Promise<void> {
  await wrong.end();
  await wrong.start({ clockAheadMs: CLOCK_AHEAD_MS });
  for (const other of others) await other.end();
  const isLeading = await within(async () => (await leads(wrong)) > 0);
  if (!isLeading) violation(`${wrong.name}, whose clock is ahead, takes no lease`);
  await complain();
  for (const other of others) await other.start();
  const killedAt = Date.now();
  await wrong.kill();
  const isReplaced = await within(async () =>
    (await Promise.all(others.map(leads))).some(count => count > 0),
  );
  if (!isReplaced) violation(`${wrong.name} was not replaced within ${(Date.now() - killedAt) / 1_000} s`);
  await wrong.start();

  async function complain(): Promise<void> {
    const [status = '', metrics = ''] = await Promise.all(
      ['status', 'metrics'].map(async page => (await fetch(`${wrong.adminUrl}/${page}`)).text()),
    );
    if (!status.includes(WARNING)) violation(`/status of ${wrong.name} does not warn of its clock`);
    const ahead = [...metrics.matchAll(/^tollgate_clock_ahead_seconds\{[^}]*\} (\S+)$/gm)].map(([, text]) =>
      Number(text),
    );
    if (!ahead.some(seconds => seconds > 5)) violation(`no alert fires for the clock of ${wrong.name}`);
  }

  async function within(isTrue: () => Promise<boolean>): Promise<boolean> {
    const deadline = Date.now() + TAKEOVER_WITHIN_MS;
    while (Date.now() < deadline) {
      if (await isTrue()) return true;
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
    return false;
  }
}
