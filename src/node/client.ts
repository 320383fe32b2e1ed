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
  TimeoutError,
  type Transport,
  WebSocketRequestError,
} from 'viem';
import type { ChainRpcSchema } from '../evm/rpc.ts';
import type { Logger } from '../lib/logger.ts';

interface ChainClientOptions {
  /** EIP-155 chain id that the node must have. */
  id: number;
  /** In order of preference; a later one is asked only when an earlier one fails. */
  rpcUrls: readonly string[];
  /** Deadline of one HTTP request (a whole JSON-RPC batch). */
  timeoutMs: number;
  log: Logger;
}

/** A node, or several nodes of one chain behind one another. */
export interface ChainClient {
  id: number;
  /** viem's own actions, for whoever wants decoded values. */
  public: PublicClient;
  /** Each node by itself, in order of preference: for questions whose answers have to come from the same one. */
  nodes: readonly ChainNode[];
  /** Raw JSON-RPC with typed methods. Calls of the same tick share an HTTP request. */
  request: EIP1193RequestFn<ChainRpcSchema>;
  /** Asks for the chain id until it was right once. @throws WrongChain when the node is of another chain. */
  verify(): Promise<void>;
}

/** One node of a chain. */
export interface ChainNode {
  /** Host name of its address, which carries no credentials. */
  readonly host: string;
  readonly request: PublicClient['request'];
  /** Raw JSON-RPC with typed methods. */
  readonly raw: EIP1193RequestFn<ChainRpcSchema>;
  /** Asks for the chain id until it was right once. @throws WrongChain when the node is of another chain. */
  verify(): Promise<void>;
}

/** The node answers for another chain than the configured one: nothing it says may be used. */
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

/** Requests in one JSON-RPC batch; public nodes commonly refuse more than 100. */
const BATCH_SIZE = 100;

/** A client for one chain. Opens no connection by itself. */
export function createChainClient({ id, rpcUrls, timeoutMs, log }: ChainClientOptions): ChainClient {
  const transports = rpcUrls.map(url => transportTo(url, { timeoutMs, retryCount: 1 }));
  const [first, ...others] = transports;
  if (first === undefined) throw new Error(`Chain ${id} has no RPC address.`);
  const transport = others.length === 0 ? first : fallback([first, ...others], { retryCount: 0 });
  const request = rawRequest(transport);

  return {
    id,
    public: createPublicClient({ transport }),
    nodes: rpcUrls.map(url => nodeAt(url, { id, log, timeoutMs, retryCount: others.length === 0 ? 1 : 0 })),
    request,
    verify: verification(request, { id, log }),
  };
}

/** Asks for the chain id until it was right once. */
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

/** Where there is another node, asking the same one again only delays that one's answer. */
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
 * Whether the node itself answered with an error (no such method, execution reverted, state pruned):
 * asking again will not help. False when the node was not reached, was too slow, or asked for patience.
 */
export function nodeAnswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const passing = error.walk(
    cause =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      cause instanceof WebSocketRequestError ||
      cause instanceof LimitExceededRpcError,
  );
  return passing === null;
}

/** Null where the node itself answered with an error; for `catch`. @throws any other failure. */
export function nullIfAnswered(error: unknown): null {
  if (nodeAnswered(error)) return null;
  throw error;
}
