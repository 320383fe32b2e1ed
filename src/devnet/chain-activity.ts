import type { Address } from 'viem';
import type { ClockAndLog } from '../lib/logger.ts';
import { type Accounts, BLOB_SENDER, deriveAccounts } from './chain/accounts.ts';
import type { ChainProcess } from './chain/chain-process.ts';
import { httpRpc } from './chain/rpc.ts';
import { tokensAmong } from './deployment.ts';
import type { EmbeddedChain, FillProgress } from './embedded-chain.ts';
import { fill } from './fill.ts';
import { planChain } from './plan.ts';
import { transactionWriter } from './transaction.ts';
import { trickle } from './trickle.ts';

/** Account without activity of its own: every transfer to it is a payment. */
const MERCHANT = BLOB_SENDER + 1;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Activity of one chain. The fill is already running. */
export interface ChainActivity {
  readonly chain: EmbeddedChain;
  readonly progress: Readonly<FillProgress>;
  readonly filled: Promise<void>;
  /** Adds blocks at intervals until the signal aborts. Call it after the fill. */
  trickle(): Promise<void>;
}

export interface ChainActivityOptions extends ClockAndLog {
  readonly blocks: number;
  /** Time of the last block of the fill, in UTC milliseconds. */
  readonly endTime: number;
  readonly seed: number;
  readonly trickleMs: number;
  readonly signal: AbortSignal;
}

/** Starts the activity of running chains, whose `ids` are in the same order. `merchant` takes no part in it. */
export function chainActivities(
  processes: readonly ChainProcess[],
  { ids, ...options }: ChainActivityOptions & { readonly ids: readonly number[] },
): { activities: ChainActivity[]; merchant: Address } {
  const accounts = deriveAccounts();
  const activities = processes.map((process, index) => {
    const id = ids[index];
    if (id === undefined) throw new RangeError(`no id for chain ${index}`);
    return chainActivity(process, { ...options, accounts, id, index });
  });
  return { activities, merchant: accounts.signer(MERCHANT).address };
}

function chainActivity(
  { rpcUrl, engine, hardfork, pids }: ChainProcess,
  options: ChainActivityOptions & { accounts: Accounts; id: number; index: number },
): ChainActivity {
  const { accounts, id, index, seed, blocks, endTime, trickleMs, clock, log, signal } = options;
  const plan = planChain({ index, chainId: id, seed, accounts: accounts.addresses, blocks, endTime });
  const { contracts, prices, names } = plan;
  const rpc = httpRpc(rpcUrl);
  const write = transactionWriter({ accounts, chainId: id, hardfork, hasBlobs: engine.hasBlobs });
  const progress: FillProgress = { chainId: id, done: 0, total: blocks };
  const blobSender = accounts.signer(BLOB_SENDER).address;
  const onBlock = (number: number): void => {
    progress.done = number;
  };
  const name = `Embedded chain ${LETTERS[index] ?? index + 1}`;
  return {
    chain: { id, name, rpcUrl, contracts, tokens: tokensAmong(contracts), prices, names, pids },
    progress,
    filled: fill({ plan, rpc, write, blobSender, signal, onBlock }),
    trickle: async () => {
      if (trickleMs === 0) return;
      await trickle({ plan, rpc, write, accounts, intervalMs: trickleMs, clock, log, signal });
    },
  };
}
