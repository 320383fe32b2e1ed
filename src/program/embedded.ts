import { join } from 'node:path';
import type { DevnetConfig } from '#config/config.ts';
import type { ServedChain } from '#data/open-chain.ts';
import { COIN_SYMBOL, type EmbeddedChain, type FillProgress } from '#devnet/embedded-chain.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { EmbeddedPayments } from '#payments/from-config.ts';
import { openRunFolder } from './run-folder.ts';

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
