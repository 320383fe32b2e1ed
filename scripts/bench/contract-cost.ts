import { type Figure, figureOf } from './figure.ts';
import { load, startServer } from './server-process.ts';

const ROUNDS = 5;
const SECONDS = 2;
const MAX_MICROS = 45;
/** More paths than the mount caches, so that every request is parsed and validated. */
const PATHS = Array.from(
  { length: 5_000 },
  (_, index) => `/explorer/blocks/${18_000_000 + index}?chain_id=1`,
);

/**
 * CPU time that the contract mount adds to a bare Koa request, with the real operations and with twenty times as many.
 */
export async function benchContractCost(): Promise<Figure[]> {
  await using bare = await startServer('bare', '2000');
  await using once = await startServer('contract', '2000', '1');
  await using often = await startServer('contract', '2000', '20');
  const extra: Record<'once' | 'often', number[]> = { once: [], often: [] };
  for (const server of [bare, once, often]) await load(server, PATHS, 1);
  for (let round = 0; round < ROUNDS; round++) {
    const { cpuMicrosPerRequest: plain } = await load(bare, PATHS, SECONDS);
    extra.once.push((await load(once, PATHS, SECONDS)).cpuMicrosPerRequest - plain);
    extra.often.push((await load(often, PATHS, SECONDS)).cpuMicrosPerRequest - plain);
  }
  return (['once', 'often'] as const).map(key =>
    figureOf({
      name: `contract work over bare Koa, µs CPU a request, ${key === 'once' ? 'as served' : '20 × the operations'}`,
      rounds: extra[key],
      wanted: { atMost: MAX_MICROS },
    }),
  );
}
