import {
  BaseError,
  type Client,
  createClient,
  createPublicClient,
  type EIP1193RequestFn,
  fallback,
  HttpRequestError,
  type HttpTransport,
  http,
  LimitExceededRpcError,
  type PublicClient,
  rpcSchema,
  shouldThrow,
  TimeoutError,
  type Transport,
  WebSocketRequestError,
} from 'viem';
import type { ChainRpcSchema } from '../evm/rpc.ts';
import type { Logger } from '../lib/logger.ts';

interface ChainClientOptions {
  /** Expected EIP-155 chain id. */
  id: number;
  /** In order of preference. Later nodes are asked only when earlier ones fail. */
  rpcUrls: readonly string[];
  /** Deadline of one HTTP request (a whole JSON-RPC batch). */
  timeoutMs: number;
  log: Logger;
}

/** Client of one chain, with one node or several as fallbacks. */
export interface ChainClient {
  id: number;
  /** viem's actions, for decoded values. */
  public: PublicClient;
  /** Each node separately, in order of preference. Used when related answers must come from the same node. */
  nodes: readonly ChainNode[];
  /** Raw JSON-RPC with typed methods. Calls of the same tick share an HTTP request. */
  request: EIP1193RequestFn<ChainRpcSchema>;
  /** Checks the node's chain id until it has matched once. @throws WrongChain when the node serves another chain */
  verify(): Promise<void>;
}

/** One node of a chain. */
export interface ChainNode {
  /** Host name of its address, without credentials. */
  readonly host: string;
  readonly request: PublicClient['request'];
  /** Raw JSON-RPC with typed methods. */
  readonly raw: EIP1193RequestFn<ChainRpcSchema>;
  /** Checks the node's chain id until it has matched once. @throws WrongChain when the node serves another chain */
  verify(): Promise<void>;
}

/** Error for a node of another chain than configured. Its answers must not be used. */
export class WrongChain extends Error {
  readonly expected: number;
  readonly actual: number;
  constructor(expected: number, actual: number) {
    super(`The node serves chain ${actual}, but chain ${expected} is configured.`);
    this.name = 'WrongChain';
    this.expected = expected;
    this.actual = actual;
  }
}

/** Maximum requests per JSON-RPC batch. Public nodes commonly refuse more than 100. */
const BATCH_SIZE = 100;

/** Creates the client of one chain. Opens no connection yet. */
export function createChainClient({ id, rpcUrls, timeoutMs, log }: ChainClientOptions): ChainClient {
  const transports = rpcUrls.map(url => transportTo(url, { timeoutMs, retryCount: 1 }));
  const [first, ...others] = transports;
  if (first === undefined) throw new Error(`Chain ${id} has no RPC address.`);
  const transport =
    others.length === 0
      ? first
      : fallback(
          transports.map(one => verifiedTransport(one, { id, log })),
          { retryCount: 0, shouldThrow: error => error instanceof WrongChain || shouldThrow(error) },
        );
  const request = rawRequest(transport);

  return {
    id,
    public: createPublicClient({ transport }),
    nodes: rpcUrls.map(url => nodeAt(url, { id, log, timeoutMs, retryCount: others.length === 0 ? 1 : 0 })),
    request,
    verify: verification(request, { id, log }),
  };
}

/** Returns a check of the node's chain id that is repeated until it succeeds once. */
function verification(
  request: ChainClient['request'],
  { id, log }: Pick<ChainClientOptions, 'id' | 'log'>,
): () => Promise<void> {
  let verified: Promise<void> | undefined;
  async function check(): Promise<void> {
    const actual = Number(await request({ method: 'eth_chainId' }));
    if (actual !== id) throw new WrongChain(id, actual);
    log.debug({ chainId: id }, 'node verified');
  }

  return () => {
    verified ??= check().catch((error: unknown) => {
      verified = undefined;
      throw error;
    });
    return verified;
  };
}

/**
 * Checks the node's chain id before its first request. Otherwise a fallback node of another chain would replace the
 * blocks of an index during an outage of the first node.
 */
function verifiedTransport(transport: Transport, options: Pick<ChainClientOptions, 'id' | 'log'>): Transport {
  const verify = verification(rawRequest(transport), options);
  return settings => {
    const opened = transport(settings);
    return {
      ...opened,
      async request(...asked) {
        await verify();
        return opened.request(...asked);
      },
    };
  };
}

/** Client of one node. With several nodes it does not retry, because a retry delays the fallback. */
function nodeAt(
  url: string,
  options: Omit<ChainClientOptions, 'rpcUrls'> & { retryCount: number },
): ChainNode {
  const transport = transportTo(url, options);
  const { request } = createPublicClient({ transport });
  const raw = rawRequest(transport);
  return { host: new URL(url).hostname, request, raw, verify: verification(raw, options) };
}

function rawRequest(transport: Transport): EIP1193RequestFn<ChainRpcSchema> {
  const client: Client<Transport, undefined, undefined, ChainRpcSchema> = createClient({
    transport,
    rpcSchema: rpcSchema<ChainRpcSchema>(),
  });
  return client.request;
}

function transportTo(
  url: string,
  { timeoutMs, retryCount }: { timeoutMs: number; retryCount: number },
): HttpTransport {
  return http(url, { batch: { batchSize: BATCH_SIZE }, timeout: timeoutMs, retryCount, retryDelay: 100 });
}

/**
 * True when the node itself answered with an error (no such method, execution reverted, state pruned), so a retry will
 * not help. False when the node was unreachable, timed out, limited the rate, or serves another chain.
 */
export function nodeAnswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const passing = error.walk(
    cause =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      cause instanceof WebSocketRequestError ||
      cause instanceof LimitExceededRpcError ||
      cause instanceof WrongChain,
  );
  return passing === null;
}

/** Handler for `catch` that returns null when the node itself answered with an error. @throws any other failure */
export function nullIfAnswered(error: unknown): null {
  if (nodeAnswered(error)) return null;
  throw error;
}
