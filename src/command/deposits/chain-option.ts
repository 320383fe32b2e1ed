import { BaseError } from 'viem';
import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { numberOption, Refused, UsageError } from '#lib/command-line.ts';
import { silentLogger } from '#lib/logger.ts';
import { type ChainClient, createChainClient, nodeReason } from '#node/client.ts';

/** Options that name a chain and its nodes. */
export interface ChainOptions {
  readonly chain?: string | undefined;
  readonly config?: string | undefined;
  readonly rpc?: string | undefined;
}

/** A chain that a command reads and writes. */
export interface OpenedChain {
  readonly id: number;
  readonly client: ChainClient;
  readonly native: { readonly symbol: string; readonly decimals: number };
  /** Tokens that the configuration names. */
  readonly tokens: readonly {
    readonly address: string;
    readonly symbol: string;
    readonly decimals: number;
  }[];
}

const TIMEOUT_MS = 30_000;

/** Lines of a command's help about these options. */
export const CHAIN_USAGE = `  --chain ID               chain id
  --config FILE            configuration with the chain and its nodes; without one, TOLLGATE_CONFIG
  --rpc URL                node of the chain, in place of a configuration`;

/**
 * Calls a function with a chain, after the id of its nodes was checked.
 * @throws UsageError, or Refused for a node that does not answer or refuses
 */
export async function onChain<Result>(
  options: ChainOptions,
  work: (chain: OpenedChain) => Promise<Result>,
): Promise<Result> {
  const chain = open(options);
  try {
    await chain.client.verify();
    return await work(chain);
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    throw new Refused(nodeReason(error), { cause: error });
  }
}

function open({ chain: text, config: file, rpc }: ChainOptions): OpenedChain {
  const id = numberOption('chain', text);
  if (id === undefined) throw new UsageError('--chain is missing');
  const coin = { symbol: 'coins', decimals: 18 };
  if (rpc !== undefined) return { id, client: clientOf(id, [rpc]), native: coin, tokens: [] };
  const config = loadConfig({ env: readEnvironment().variables, file });
  if (config.file === undefined)
    throw new UsageError('--config is missing, and so are TOLLGATE_CONFIG and --rpc');
  const found = config.chains.find(one => one.id === id);
  if (found === undefined) throw new UsageError(`--chain: ${config.file} has no chain ${id}`);
  return { id, client: clientOf(id, found.rpc), native: found.native, tokens: found.tokens };
}

function clientOf(id: number, rpcUrls: readonly string[]): ChainClient {
  if (rpcUrls.some(url => !URL.canParse(url)))
    throw new UsageError('--rpc must be an address, such as http://127.0.0.1:8545');
  return createChainClient({ id, rpcUrls, timeoutMs: TIMEOUT_MS, log: silentLogger() });
}
