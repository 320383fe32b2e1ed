import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startOwnPostgres } from '../../../test/lab/own-postgres.ts';
import { random } from '../../faults/random.ts';
import { startPlainChain } from '../chain.ts';
import { interruptions } from '../interruptions.ts';
import { STOPS } from '../member.ts';
import { readKnown } from '../reads.ts';
import { replicaClient } from '../replica-client.ts';
import { sellAndPay } from '../sales.ts';
import { truth } from '../truth.ts';
import { noteWaits, type Sold } from '../verdict.ts';
import { attackAll, type Scene, type Traces } from './attacks.ts';
import { startCanaries } from './canaries.ts';
import { startHostileChain } from './hostile-chain.ts';
import { compareIndexes, readHostileRecords } from './index-judge.ts';
import { comparePaid, judgeDust, judgeMemory, judgeUnreadable } from './judge.ts';
import { compareWaits } from './settlement-waits.ts';
import type { Sizes } from './sizes.ts';
import { openStage, type Stage } from './stage.ts';

/** Run of the hostile chain without the fleet. */
export interface HostileRun {
  readonly seed: number;
  readonly database: 'sqlite' | 'postgres';
  /** `prove` of the chain; the default when absent. */
  readonly prove?: string | undefined;
  readonly sizes: Sizes;
  /** Called with the name of each attack when it begins. */
  readonly told: (attack: string) => void;
  readonly violation: (sentence: string) => void;
}

const PLAIN_ID = 31_337;
const HOSTILE_ID = 31_338;
const HONEST_SHOPS = 2;
const GRACEFUL = { isGraceful: true };

/**
 * Runs the program with all roles on a chain on which a stranger does what gas can pay for. For comparison, another
 * process serves a plain chain with the same sales, unless the sizes leave it out. Returns a report.
 */
export async function runHostileChain(run: HostileRun): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const { sizes, violation } = run;
  const canaries = await startCanaries(stack);
  const place = await openPlace(run, stack);
  const plain = sizes.hasPlainChain ? await openPlainStage(run, place, stack) : undefined;
  const { hostile, scene } = await openHostileStage(run, { ...place, urls: canaries.urls }, stack);
  await canaries.arm();

  const closing = new AbortController();
  const terms = { seed: run.seed, signal: closing.signal };
  const selling = Promise.all([
    sell(hostile, terms),
    plain && sell(plain, terms),
    readOldBlocks(hostile, terms),
  ]);
  const failure = new Promise<never>((_, reject) => selling.catch(reject));
  const attacking = attackBetweenPauses(hostile, scene);
  const traces = await Promise.race([attacking, failure]).finally(() => closing.abort());
  const [sold, soldPlain = []] = await selling;
  await comparePaid(hostile, [...sold, { shop: scene.shop, sales: traces.sales }]);
  if (plain !== undefined) await comparePaid(plain, soldPlain);

  const { observers } = hostile;
  const judged = { scene, traces, observers };
  const compared = await compareIndexes(judged);
  const asked = await readHostileRecords(judged);
  await judgeDust(judged);
  await judgeUnreadable(judged);
  const underAttack = await settlementWaits(hostile, sold);
  const without = plain && (await settlementWaits(plain, soldPlain));
  const stages = [hostile, ...(plain === undefined ? [] : [plain])];
  const memory = await judgeMemory(stages);
  for (const contact of await canaries.seen()) violation(`the chain caused ${contact}`);
  for (const { name, member } of stages) {
    const code = await member.end();
    if (!STOPS.includes(code)) violation(`${name} ended with ${code}`);
  }
  return `${observers.interruptions.table()}

answers compared with the chain ${compared}, hostile records read ${asked}
${compareWaits({ without, underAttack }, violation)}
${memory}`;
}

/** The folder of a run, and its PostgreSQL if it has one. */
export async function openPlace({ database }: Pick<HostileRun, 'database'>, stack: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  stack.defer(removeFolder);
  process.once('exit', removeFolder); // also when the run is aborted
  return { folder, postgres: database === 'postgres' ? stack.use(await startOwnPostgres()) : undefined };
}

type Place = Awaited<ReturnType<typeof openPlace>>;

async function openPlainStage(
  { sizes: { blockMs }, violation }: HostileRun,
  place: Place,
  stack: AsyncDisposableStack,
): Promise<Stage> {
  const chain = await startPlainChain({ id: PLAIN_ID, blockMs }, stack);
  const observers = { interruptions: interruptions(() => undefined), violation };
  observers.interruptions.begin('nothing', GRACEFUL);
  return await openStage({ ...place, name: 'plain', chain, shops: HONEST_SHOPS, observers }, stack);
}

async function openHostileStage(
  { sizes, prove, told, violation }: HostileRun,
  { urls, ...place }: Place & { readonly urls: readonly string[] },
  stack: AsyncDisposableStack,
): Promise<{ hostile: Stage; scene: Scene }> {
  const { blockMs, maxAnswer } = sizes;
  const chain = await startHostileChain({ id: HOSTILE_ID, blockMs, maxAnswer, urls }, stack);
  const observers = { interruptions: interruptions(told), violation };
  const hostile = await openStage(
    {
      ...place,
      name: 'hostile',
      chain: { ...chain, configured: { ...chain.configured, prove } },
      shops: HONEST_SHOPS + 2,
      observers,
    },
    stack,
  );
  const [shop, unluckyShop] = hostile.shops.slice(HONEST_SHOPS);
  if (shop === undefined || unluckyShop === undefined) throw new Error('the stranger has no shops');
  return { hostile, scene: { chain, shop, unluckyShop, sizes, dataUrls: [hostile.data.url] } };
}

async function attackBetweenPauses({ observers }: Stage, scene: Scene): Promise<Traces> {
  const begin = (name: string) => observers.interruptions.begin(name, GRACEFUL);
  begin('nothing');
  await delay(scene.sizes.pauseMs);
  const traces = await attackAll(scene, begin);
  begin('nothing again');
  await delay(scene.sizes.pauseMs);
  return traces;
}

interface Terms {
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** Sells in the first shops, until the signal aborts. */
export function sell(
  { chain, shops }: Stage,
  { seed, signal, shops: count = HONEST_SHOPS }: Terms & { readonly shops?: number },
): Promise<Sold[]> {
  return Promise.all(
    shops.slice(0, count).map(async (shop, index) => {
      const payer = index + 1;
      const till = { chains: [chain], payer, random: random(seed + index), signal, onPaid: () => undefined };
      return { shop, sales: await sellAndPay({ shop, ...till }) };
    }),
  );
}

/** Reads blocks from before the attacks, until the signal aborts. */
async function readOldBlocks({ chain, data, observers }: Stage, { seed, signal }: Terms): Promise<void> {
  const client = replicaClient({ replicas: [data], key: '', observers });
  const reading = { client, chainIds: [chain.id], truth: truth([chain]), observers, signal, paid: [] };
  await readKnown({ ...reading, random: random(seed) }, []);
}

async function settlementWaits({ receivers, observers }: Stage, sold: readonly Sold[]) {
  await noteWaits(sold, receivers.arrivals, observers);
  return observers.interruptions.waitsOf('settlement', () => true);
}
