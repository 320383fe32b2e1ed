import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/lib/clock.ts';
import type { Exchange } from '../contract/client.ts';
import { parsed } from '../contract/judge.ts';
import type { Client } from './client.ts';
import type { HoldUps } from './event-loop-stalls.ts';
import { nextPage, type Question } from './question.ts';
import type { QuestionSource } from './question-source.ts';
import type { Random } from './random.ts';
import { DEADLINE_MS, TIMEOUT_MS } from './service.ts';
import type { Tally } from './tally.ts';
import type { Upstreams } from './upstreams.ts';
import type { Phase, Verdict } from './verdict.ts';

export interface RunOptions {
  readonly questions: QuestionSource;
  readonly client: Client;
  readonly clock: Clock & { leap(ms: number): void };
  readonly upstreams: Upstreams;
  readonly verdict: Verdict;
  readonly random: Random;
  readonly tally: Tally;
  readonly holdUps: HoldUps;
}

const RATE = { everyMs: 20, requests: 4 } as const;
/** Tolerance beyond the deadline of a request. */
const MARGIN_MS = 500;
const KNOWN = 600;
const CALMS = 3;
const AT_ONCE = 50;
const RECOVERY_MS = 3_000;
const HOUR_MS = 3_600_000;

/**
 * Runs three phases: a storm of faults, an outage of everything, which shows the cached answers, and a calm without
 * faults. Returns the number of cached answers and the time of the recovery.
 */
export async function run(
  options: RunOptions,
  stormMs: number,
): Promise<{ kept: number; recoveryMs: number }> {
  const { questions, client, clock, upstreams, tally, holdUps } = options;
  const kept = new Map<string, Question>();

  await storm(options, stormMs, kept);

  upstreams.settle('503');
  await inTurn([...kept.values()], question => put(options, question, 'cached'));

  upstreams.settle(undefined);
  for (let attempt = 1; attempt <= CALMS; attempt += 1) {
    holdUps.takeLongestMs();
    // Longer than any pause that an upstream requested, and than the lifetime of any cached answer.
    clock.leap(HOUR_MS);
    const recoveryMs = await recovery(client, upstreams);
    const answers: [Question, Exchange][] = [];
    await inTurn(
      questions.known(KNOWN),
      async question => void answers.push([question, await timed(options, question)]),
    );
    // The upstreams run in this process, so they do not answer while it stalls.
    const isDisturbed = holdUps.takeLongestMs() > TIMEOUT_MS / 2;
    for (const [question, exchange] of answers)
      note(options, question, exchange, isDisturbed ? 'storm' : 'calm');
    if (isDisturbed) continue;
    if (recoveryMs > RECOVERY_MS) tally.violation(`not all chains were back after ${recoveryMs} ms`);
    return { kept: kept.size, recoveryMs };
  }
  tally.violation('the machine was too busy for a calm to be judged');
  return { kept: kept.size, recoveryMs: Number.NaN };
}

async function storm(options: RunOptions, stormMs: number, kept: Map<string, Question>): Promise<void> {
  const { questions, random, upstreams } = options;
  const pages: Question[] = [];
  const running = new Set<Promise<void>>();
  const until = performance.now() + stormMs;
  let due = performance.now();
  while (performance.now() < until) {
    for (let n = 0; n < RATE.requests; n += 1) {
      const next = random.chance(0.1) ? pages.pop() : undefined;
      const done = one(next ?? questions.draw()).finally(() => running.delete(done));
      running.add(done);
    }
    due += RATE.everyMs;
    await delay(Math.max(0, due - performance.now()));
  }
  await Promise.all(running);

  async function one(question: Question): Promise<void> {
    const isForced = random.chance(0.04);
    const exchange = await put(options, question, 'storm', isForced ? { 'cache-control': 'no-cache' } : {});
    if (exchange.status !== 200) return;
    kept.set(question.target, question);
    const next = nextPage(parsed(exchange.text)?.value);
    const chain = upstreams.worlds.find(({ chainId }) => chainId === next?.chain_id);
    if (next !== undefined && chain !== undefined && pages.length < 100)
      pages.push(questions.following(question, chain, next));
  }
}

async function put(
  options: RunOptions,
  question: Question,
  phase: Phase,
  headers: Readonly<Record<string, string>> = {},
): Promise<Exchange> {
  const exchange = await timed(options, question, headers);
  note(options, question, exchange, phase);
  return exchange;
}

/** Sends a question. The duration excludes stalls of this process. */
async function timed(
  { client, holdUps }: RunOptions,
  question: Question,
  headers: Readonly<Record<string, string>> = {},
): Promise<Exchange> {
  const before = holdUps.totalMs();
  const exchange = await client.get(question.target, headers);
  return { ...exchange, durationMs: exchange.durationMs - (holdUps.totalMs() - before) };
}

function note({ verdict, tally }: RunOptions, question: Question, exchange: Exchange, phase: Phase): void {
  const wrong = verdict(question, exchange, phase);
  if (exchange.durationMs > DEADLINE_MS + MARGIN_MS) wrong.push('is past its deadline');
  tally.note(phase, exchange, wrong);
}

async function inTurn(
  all: readonly Question[],
  visit: (question: Question) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < all.length; start += AT_ONCE)
    await Promise.all(all.slice(start, start + AT_ONCE).map(visit));
}

/** Waits until every chain answers by itself. Returns the duration in milliseconds. */
async function recovery(client: Client, { worlds }: Upstreams): Promise<number> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  await Promise.all(
    worlds.map(async ({ chainId }) => {
      for (let status = 0; status !== 200 && elapsed() <= RECOVERY_MS; ) {
        ({ status } = await client.get(`/explorer/blocks/0?chain_id=${chainId}`));
        if (status !== 200) await delay(20);
      }
    }),
  );
  return elapsed();
}
