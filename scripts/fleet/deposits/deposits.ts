import { setTimeout as delay } from 'node:timers/promises';
import { random } from '../../faults/random.ts';
import { openPlace } from '../hostile/alone.ts';
import { openStage, type Stage } from '../hostile/stage.ts';
import { interruptions } from '../interruptions.ts';
import type { LiesRun } from '../liar.ts';
import { STOPS } from '../member.ts';
import { type DepositChain, startDepositChain } from './deposit-chain.ts';
import { compareDeposits, sweepAll } from './deposit-judge.ts';
import { type DepositSale, sellAtAddresses } from './deposit-sales.ts';

const CHAIN_ID = 31_337;
const SHOPS = 3;
const SALES_MS = 90_000;
const LIVES_MS = { shortest: 4_000, longest: 12_000 };

/**
 * Runs the program with all roles, which is killed again and again, on a chain whose blocks are replaced at times. Sessions
 * with deposit addresses are paid in parts, rounded, twice and by contracts, with look-alike tokens between them, and
 * strangers sweep addresses early. The nodes show no traces, so that coins of contracts are found by balances. Returns a report.
 */
export async function runDeposits(run: LiesRun): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const { violation, seed } = run;
  const observers = { interruptions: interruptions(run.told), violation };
  observers.interruptions.begin('nothing');
  const place = await openPlace(run, stack);
  const chain = await startDepositChain(CHAIN_ID, random(seed), stack);
  const configured = { ...chain.configured, prove: run.prove, traceCoins: false };
  let errors = 0;
  const stage = await openStage(
    {
      ...place,
      name: 'deposits',
      chain: { ...chain, configured },
      shops: SHOPS,
      observers,
      // A look or a block may fail while blocks are replaced.
      onError: () => {
        errors += 1;
      },
    },
    stack,
  );

  const closing = new AbortController();
  const selling = sellInAll(stage, chain, { seed, signal: closing.signal });
  const failure = new Promise<never>((_, reject) => selling.catch(reject));
  const kills = await Promise.race([killUntil(stage, seed), failure]).finally(() => closing.abort());
  observers.interruptions.begin('nothing again');
  const sales = await selling;
  const judged = { stage, chain, sales, violation };
  const found = await compareDeposits(judged);
  const swept = await sweepAll(judged);
  await compareDeposits(judged);
  const code = await stage.member.end();
  if (!STOPS.includes(code)) violation(`${stage.name} ended with ${code}`);
  return `killed ${kills} times, blocks replaced ${chain.replaced()} times, lines of errors in the log ${errors}
sessions ${sales.length}: ${waysOf(sales)}
${found}
${swept}`;
}

interface Terms {
  readonly seed: number;
  readonly signal: AbortSignal;
}

async function sellInAll(
  { shops }: Stage,
  chain: DepositChain,
  { seed, signal }: Terms,
): Promise<DepositSale[]> {
  const tills = shops.map((shop, index) => ({
    shop,
    chain,
    payer: index + 1,
    random: random(seed + 1 + index),
    signal,
  }));
  return (await Promise.all(tills.map(sellAtAddresses))).flat();
}

/** Kills and starts the program while there are sales. Returns how often. */
async function killUntil({ member, observers }: Stage, seed: number): Promise<number> {
  const chance = random(seed + 100);
  const end = Date.now() + SALES_MS;
  for (let kills = 0; ; kills += 1) {
    await delay(chance.between(LIVES_MS.shortest, LIVES_MS.longest));
    if (Date.now() > end) return kills;
    observers.interruptions.begin(`kill ${kills + 1}`);
    await member.kill();
    await member.start();
  }
}

function waysOf(sales: readonly DepositSale[]): string {
  const ways = Map.groupBy(
    sales.flatMap(one => one.ways),
    way => way,
  );
  return [...ways].map(([way, all]) => `${way} ${all.length}`).join(', ');
}
