import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { DevnetConfig } from '#config/config.ts';
import type { ServedChain } from '#data/open-chain.ts';
import { COIN_SYMBOL, type EmbeddedChain, type FillProgress } from '#devnet/embedded-chain.ts';
import type { Clock } from '#lib/clock.ts';
import { isPlainObject } from '#lib/json.ts';
import type { Logger } from '#lib/logger.ts';
import type { EmbeddedPayments } from '#payments/from-config.ts';

/** The embedded chains of one run. Their whole state is one folder, created and removed by this run. */
export interface EmbeddedDefault {
  readonly chains: readonly ServedChain[];
  /** Chains, folder and merchant for the payments service. */
  readonly payments: EmbeddedPayments;
  readonly filled: Promise<void>;
  /** Resolves with the reason when a chain ends by itself. */
  readonly failed: Promise<Error>;
  progress(): readonly FillProgress[];
  stop(): Promise<void>;
}

/** Blocks until records of the embedded chains are final: more than any reorg that a user tries by hand. */
const CONFIRMATIONS = 12;
const COIN = { symbol: COIN_SYMBOL, decimals: 18 };
/** Short, because a poll of a chain on the same machine costs almost nothing. */
const POLL_MS = 250;

/** Starts the embedded chains in a fresh folder, which also holds every database of the run. */
export async function startEmbedded(options: {
  devnet: DevnetConfig;
  anvil: string | undefined;
  clock: Clock;
  log: Logger;
}): Promise<EmbeddedDefault> {
  const { devnet: settings, anvil, clock, log } = options;
  const { startDevnet } = await import('#devnet/start-devnet.ts');
  const { knownContracts } = await import('#devnet/activity/artifacts.ts');
  const { folder, remove } = await openRunFolder(log);
  log.info(
    { folder },
    'chains, indexes and databases of this run are in a new folder, which is removed when the run ends',
  );
  try {
    const devnet = await startDevnet({
      folder,
      isFolderDisposable: true,
      ...settings,
      clock,
      log,
      ...(anvil === undefined ? {} : { anvil }),
    });
    return {
      chains: devnet.chains.map(chain => servedChain(chain, folder, knownContracts(chain.contracts))),
      payments: { chains: devnet.chains, folder, merchant: devnet.merchant },
      filled: devnet.filled,
      failed: devnet.failed,
      progress: devnet.progress,
      stop: async () => {
        await devnet.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function servedChain(chain: EmbeddedChain, folder: string, abis: ServedChain['abis']): ServedChain {
  return {
    id: chain.id,
    name: chain.name,
    native: COIN,
    confirmations: CONFIRMATIONS,
    rpcUrls: [chain.rpcUrl],
    abis,
    prices: chain.prices,
    names: chain.names,
    backends: [
      {
        kind: 'index',
        database: { file: join(folder, `index-${chain.id}.db`) },
        isDisposable: true,
        fromBlock: 0,
        pollMs: POLL_MS,
      },
    ],
  };
}

const PREFIX = 'tollgate-';
/** File that names the process of a folder. Other folders with the prefix have none. */
const OWNER_FILE = 'run.json';

/** Process that uses a folder. A process id has a meaning only on its machine and in its namespace. */
interface RunOwner {
  readonly host: string;
  /** Linux' namespace of process ids, which differs between containers; null elsewhere. */
  readonly namespace: string | null;
  readonly pid: number;
}

/** New temporary folder of this run. First removes those of earlier runs that were killed. */
export async function openRunFolder(log: Logger): Promise<{ folder: string; remove: () => Promise<void> }> {
  const machine = await ownMachine();
  for (const leftover of await leftovers(machine)) {
    await rm(leftover, { recursive: true, force: true });
    log.info({ removed: leftover }, 'removed the folder of an earlier run, which was killed');
  }
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  await writeFile(join(folder, OWNER_FILE), JSON.stringify({ ...machine, pid: process.pid }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function ownMachine(): Promise<Omit<RunOwner, 'pid'>> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => null);
  return { host: hostname(), namespace };
}

/** Folders of this user whose processes, on this machine, have ended. */
async function leftovers(machine: Omit<RunOwner, 'pid'>): Promise<string[]> {
  const names = await readdir(tmpdir()).catch(() => []);
  const folders = names.filter(name => name.startsWith(PREFIX)).map(name => join(tmpdir(), name));
  const ended: string[] = [];
  for (const folder of folders) {
    const owner = await ownerOf(folder);
    const isFromHere = owner?.host === machine.host && owner.namespace === machine.namespace;
    if (isFromHere && !isRunning(owner.pid)) ended.push(folder);
  }
  return ended;
}

/** Owner of a folder that this user has created; undefined for any other folder. */
async function ownerOf(folder: string): Promise<RunOwner | undefined> {
  try {
    const state = await lstat(folder); // not what a link of another user points at
    // -1 on Windows, where files have 0.
    if (!state.isDirectory() || state.uid !== Math.max(userInfo().uid, 0)) return undefined;
    const owner: unknown = JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8'));
    if (!isPlainObject(owner)) return undefined;
    const { host, namespace, pid } = owner;
    if (typeof host !== 'string' || typeof pid !== 'number') return undefined;
    return { host, pid, namespace: typeof namespace === 'string' ? namespace : null };
  } catch {
    return undefined;
  }
}

/** True also for a process of another user, and for a later one with the same id. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
