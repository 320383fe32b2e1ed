import type { Address } from 'viem';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { BLOB_SENDER, deriveAccounts } from './chain/accounts.ts';
import { findAnvil } from './chain/anvil-binary.ts';
import { type ChainProcess, startChainProcess } from './chain/chain-process.ts';
import { httpRpc } from './chain/rpc.ts';
import { type EmbeddedContract, type EmbeddedToken, tokensAmong } from './deployment.ts';
import { fill } from './fill.ts';
import { type Plan, planChain } from './plan.ts';
import { transactionWriter } from './transaction.ts';
import { trickle } from './trickle.ts';

const FIRST_CHAIN_ID = 31_337;
const MINUTE_MS = 60_000;
/** An account of no activity, so that whatever it gets is paid to it. */
const MERCHANT = BLOB_SENDER + 1;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** One embedded chain. */
export interface EmbeddedChain {
  id: number;
  /** "Embedded chain A", "Embedded chain B" … */
  name: string;
  rpcUrl: string;
  /** The sample contracts; they stand there once the first blocks of the fill are mined. */
  contracts: EmbeddedContract[];
  /** Those of the sample contracts that one can pay with. */
  tokens: EmbeddedToken[];
  /** Where prices are read: a token that is a dollar, and what makes the pools with it. */
  prices: { usdToken: Address; factory: Address };
  /** Where names are looked up. */
  names: { registry: Address };
  /** Process ids, for whoever looks after the machine. */
  pids: { supervisor: number; anvil: number };
}

/** How far the fill of one chain is, in blocks. */
export interface FillProgress {
  chainId: number;
  done: number;
  total: number;
}

/** The running embedded chains. */
export interface Devnet {
  chains: EmbeddedChain[];
  /** Address of an account that takes no part in the activity. */
  merchant: Address;
  /** Resolves when every chain holds its activity; rejects when the fill fails or is stopped. */
  filled: Promise<void>;
  /** Resolves with the reason when a chain ends by itself; otherwise never. */
  failed: Promise<Error>;
  progress(): FillProgress[];
  /** Ends the activity and the chains and removes their folders; resolves when all are gone. */
  stop(): Promise<void>;
}

export interface DevnetOptions {
  /** The chains' states live below it, each in its own folder. */
  folder: string;
  /** Removes `folder` whole when this process is killed and cannot do it itself. */
  isFolderDisposable?: boolean;
  /** How many chains. */
  chains: number;
  /** Blocks of the fill; from about 25 on every kind of activity is in them, from 40 on a block of over 50 transactions. */
  blocks: number;
  /** Milliseconds from one block to the next after the fill; 0 for none. */
  trickleMs: number;
  seed: number;
  clock: Clock;
  log: Logger;
  /** The last block of the fill is at this time (ms); by default the minute now running. */
  endTime?: number;
  /** Path of an anvil to use where the npm package has none. */
  anvil?: string;
}

/**
 * Starts the embedded chains and resolves as soon as they answer; the deterministic activity then fills them.
 * @throws AnvilMissing when there is no anvil; Error when one does not start.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { folder, isFolderDisposable = false, chains: count, blocks, trickleMs, seed, clock, log } = options;
  const { endTime = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS } = options;
  const binary = findAnvil({ anvil: options.anvil });
  const accounts = deriveAccounts();
  const stopping = new AbortController();

  const planned = Array.from({ length: count }, (_, index) => {
    const id = FIRST_CHAIN_ID + index;
    const plan = planChain({ index, chainId: id, seed, accounts: accounts.addresses, blocks, endTime });
    return { id, name: `Embedded chain ${LETTERS[index] ?? index + 1}`, plan };
  });
  const processes = await startAll(
    planned.map(({ id, plan: { genesisTime } }) =>
      startChainProcess({
        binary,
        chainId: id,
        folder,
        genesisTime,
        isRunFolderDisposable: isFolderDisposable,
      }),
    ),
  );
  const running = planned.map((chain, index) => activity({ ...chain, process: processAt(processes, index) }));

  const filled = Promise.all(running.map(chain => chain.filled)).then(() => undefined);
  const trickles = running.map(chain => chain.filled.then(chain.trickle));
  // A failed fill is the business of whoever awaits `filled`; nobody has to.
  for (const promise of [filled, ...trickles]) promise.catch(() => {});
  const failed = Promise.race(processes.map(process => process.failed));
  void failed.then(error => {
    stopping.abort(error);
    log.error({ err: error }, 'an embedded chain ended');
  });

  return {
    chains: running.map(({ chain }) => chain),
    merchant: accounts.signer(MERCHANT).address,
    filled,
    failed,
    progress: () => running.map(({ progress }) => ({ ...progress })),
    stop: async () => {
      stopping.abort(new Error('the embedded chains are stopped'));
      // The chains first: a call that still waits for one of them then fails at once.
      await Promise.all(processes.map(process => process.stop()));
      await Promise.allSettled([filled, ...trickles]);
    },
  };

  function activity({
    id,
    name,
    plan,
    process,
  }: {
    id: number;
    name: string;
    plan: Plan;
    process: ChainProcess;
  }) {
    const { rpcUrl, pids } = process;
    const rpc = httpRpc(rpcUrl);
    const write = transactionWriter({ accounts, chainId: id });
    const progress: FillProgress = { chainId: id, done: 0, total: blocks };
    const signal = stopping.signal;
    const blobSender = accounts.signer(BLOB_SENDER).address;
    const onBlock = (number: number): void => {
      progress.done = number;
    };
    const { contracts, prices, names } = plan;
    return {
      chain: { id, name, rpcUrl, contracts, tokens: tokensAmong(contracts), prices, names, pids },
      progress,
      filled: fill({ plan, rpc, write, blobSender, signal, onBlock }),
      trickle: async (): Promise<void> => {
        if (trickleMs === 0) return;
        await trickle({ plan, rpc, write, accounts, intervalMs: trickleMs, clock, log, signal });
      },
    };
  }
}

/** All of them, or an error and none left running. */
async function startAll(starts: Promise<ChainProcess>[]): Promise<ChainProcess[]> {
  const outcomes = await Promise.allSettled(starts);
  const started = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failure = outcomes.find(outcome => outcome.status === 'rejected');
  if (failure === undefined) return started;
  await Promise.all(started.map(process => process.stop()));
  throw failure.reason;
}

function processAt(processes: readonly ChainProcess[], index: number): ChainProcess {
  const process = processes[index];
  if (process === undefined) throw new RangeError(`no process for chain ${index}`);
  return process;
}
