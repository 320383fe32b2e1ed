import type { Exchange } from '../contract/client.ts';
import type { Operation } from '../contract/payments/operation.ts';
import { random } from '../faults/random.ts';
import type { World } from './fixture.ts';
import { type Ground, mutant } from './mutant.ts';
import { shown } from './request.ts';
import { type Sender, senderTo } from './sender.ts';
import { type Verdict, verdictFor } from './verdict.ts';

export interface FuzzRun {
  readonly seed: number;
  readonly requests: number;
  /** Numbers of the requests to send, from 0; all of them when absent. */
  readonly only?: readonly number[] | undefined;
  readonly deadlineMs: number;
  /** Called after each quarter of the requests. */
  readonly afterQuarter?: (() => void) | undefined;
}

/** Result of a run. */
export interface FuzzReport {
  readonly sent: number;
  /** Number of answers by operation and status. Status 0 means no answer. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Each finding has the mistake, the request with its number, and the answer. */
  readonly findings: readonly string[];
  readonly slowest: { readonly durationMs: number; readonly request: string };
  /** The last request and its answer, for a replay. */
  readonly last: { readonly request: string; readonly answer: Exchange } | undefined;
}

/** An operation, and all that its requests need. */
interface Subject {
  readonly operation: Operation;
  readonly ground: Ground;
  readonly world: World;
  readonly sender: Sender;
  readonly verdict: Verdict;
}

const AT_ONCE = 12;
const QUARTERS = 4;
/** Primes, so that neighbouring runs and requests use different random numbers. */
const [SEED_STEP, REQUEST_STEP] = [1_000_003, 7_919];

/** Sends requests to the operations in turn. A request depends only on the seed, its number and the known records. */
export async function fuzz(worlds: readonly World[], run: FuzzRun): Promise<FuzzReport> {
  const endsAt = Date.now() + run.deadlineMs;
  const subjects = (await Promise.all(worlds.map(subjectsOf))).flat();
  const numbers = run.only ?? Array.from({ length: run.requests }, (_, number) => number);
  const counts = new Map<string, Map<number, number>>();
  const findings: string[] = [];
  let sent = 0;
  let slowest = { durationMs: 0, request: 'none' };
  let last: FuzzReport['last'];

  async function sendOne(number: number): Promise<void> {
    const subject = subjects[number % subjects.length];
    if (subject === undefined) throw new Error('there are no operations');
    const { operation, ground, world, sender, verdict } = subject;
    const request = mutant(random(run.seed * SEED_STEP + number * REQUEST_STEP), operation, ground);
    const exchange = await sender.send(request);
    sent += 1;
    world.learn?.(exchange);
    const line = shown(request, [...world.secrets]);
    note(counts, operation.id, exchange.status);
    findings.push(
      ...verdict(operation, request, exchange).map(fault => findingOf(fault, { number, line, exchange })),
    );
    if (exchange.durationMs > slowest.durationMs)
      slowest = { durationMs: exchange.durationMs, request: line };
    last = { request: line, answer: exchange };
  }

  const queue = numbers.values();
  for (let quarter = 1; quarter <= QUARTERS; quarter += 1) {
    const until = Math.ceil((numbers.length * quarter) / QUARTERS);
    let begun = sent;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (begun < until && Date.now() < endsAt) {
          begun += 1;
          const { value } = queue.next();
          if (value !== undefined) await sendOne(value);
        }
      }),
    );
    run.afterQuarter?.();
  }
  await Promise.all([...new Set(subjects.map(({ sender }) => sender))].map(sender => sender.close()));
  return { sent, counts, findings, slowest, last };
}

async function subjectsOf(world: World): Promise<Subject[]> {
  const sender = senderTo(world.url);
  const verdict = await verdictFor(world);
  return world.grounds.flatMap(ground =>
    ground.operations.map(operation => ({ operation, ground, world, sender, verdict })),
  );
}

function note(counts: Map<string, Map<number, number>>, id: string, status: number): void {
  const own = counts.get(id) ?? new Map<number, number>();
  own.set(status, (own.get(status) ?? 0) + 1);
  counts.set(id, own);
}

function findingOf(
  fault: string,
  { number, line, exchange }: { number: number; line: string; exchange: Exchange },
): string {
  return `${exchange.status}: ${fault}\n  request ${number}: ${line}\n  ${exchange.text.slice(0, 300)}`;
}
