import { setTimeout as delay } from 'node:timers/promises';
import type { Balancer } from '../../test/lab/balancer.ts';
import type { Observers } from './replica-client.ts';
import { pathOfBlock } from './truth.ts';

interface BalancedReading {
  readonly balancer: Balancer;
  /** API key of an organization. */
  readonly key: string;
  readonly chainIds: readonly number[];
  readonly observers: Observers;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 40;
/** Oldest blocks. Their answers are final, so that each replica keeps them. */
const BLOCKS = [1, 2, 3, 4, 5] as const;

/**
 * Reads old blocks of each chain, and payment links, through a load balancer with the documented file. It repeats
 * nothing, as most clients. Blocks must be answered in every disruption that ends no process, also without PostgreSQL or
 * a node. Payment links may then be refused with 503 and the time of the next attempt, but only while something is
 * broken. Returns the number of reads.
 */
export async function readBalanced(reading: BalancedReading): Promise<number> {
  const { balancer, key, chainIds, observers, signal } = reading;
  const { interruptions, violation } = observers;
  const links = `${balancer.paymentsUrl}/api/v1/payment-links?limit=1`;
  const blocks = BLOCKS.flatMap(height =>
    chainIds.map(chainId => balancer.dataUrl + pathOfBlock({ chainId, height })),
  );
  let reads = 0;
  for (; !signal.aborted; reads += 1) {
    const block = blocks[reads % blocks.length] ?? '';
    await read(block, () => false);
    await read(links, answer => answer.status === 503 && answer.headers.has('retry-after'));
    await delay(PAUSE_MS);
  }
  return reads * 2;

  async function read(url: string, isExcused: (answer: Response) => boolean): Promise<void> {
    const before = interruptions.current();
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } }).catch((error: unknown) =>
      String(error),
    );
    const text = typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`;
    const { isServed } = interruptions.current();
    if (!before.isServed || !isServed || text.startsWith('200 ')) return;
    if (!before.isGraceful && typeof answer !== 'string' && isExcused(answer)) return;
    violation(`${before.name}: GET ${url} through the balancer is lost: ${text}`);
  }
}
