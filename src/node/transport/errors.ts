import { BaseError } from 'viem';

/**
 * Reason for which a node gave no usable answer.
 * - `unreachable`: no connection, or one that broke.
 * - `timeout`: not the whole answer before the deadline.
 * - `limited`: it limits the rate (status 429, or an error that says so).
 * - `refused`: any other HTTP status than 2xx.
 * - `unreadable`: the body is no JSON-RPC answer.
 */
export type NodeFault = 'unreachable' | 'timeout' | 'limited' | 'refused' | 'unreadable';

interface NodeFailureFacts {
  /** Host name of the node. Its address may contain a provider's key. */
  readonly host: string;
  readonly fault: NodeFault;
  readonly status?: number | undefined;
  /** Milliseconds that the node asks its clients to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Beginning of an error body, without secrets. */
  readonly excerpt?: string | undefined;
  readonly cause?: unknown;
}

/** Error for a node without a usable answer. A retry or another node may help. */
export class NodeFailure extends BaseError {
  readonly host: string;
  readonly fault: NodeFault;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor({ host, fault, status, retryAfterMs, excerpt, cause }: NodeFailureFacts) {
    const said = excerpt === undefined || excerpt === '' ? '' : `: ${excerpt}`;
    super(`The node ${host} ${SENTENCES[fault]}${status === undefined ? '' : ` (${status})`}${said}.`, {
      name: 'NodeFailure',
      ...(cause instanceof Error ? { cause } : {}),
    });
    this.message = this.shortMessage;
    this.host = host;
    this.fault = fault;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const SENTENCES: Readonly<Record<NodeFault, string>> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  limited: 'limits the rate of requests',
  refused: 'refused the request',
  unreadable: 'did not answer with JSON-RPC',
};

/**
 * Error for a single call whose answer exceeds the limit of bytes. The node is well, and other calls are not affected.
 * Another node may have a shorter answer.
 */
export class AnswerTooLarge extends BaseError {
  readonly method: string;
  readonly limitBytes: number;

  constructor({ method, limitBytes }: { method: string; limitBytes: number }) {
    super(`The answer to ${method} exceeds ${limitBytes} bytes.`, { name: 'AnswerTooLarge' });
    this.message = this.shortMessage;
    this.method = method;
    this.limitBytes = limitBytes;
  }
}

/** Error that the node itself answered a call with. `code` and `data` are those of JSON-RPC. */
export class RpcFailure extends BaseError {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message, { name: 'RpcFailure', details: message });
    this.code = code;
    this.data = data;
  }
}

/** Error for a node of another chain than configured. Its answers must not be used. */
export class WrongChain extends BaseError {
  readonly expected: number;
  readonly actual: number;
  constructor(expected: number, actual: number) {
    super(`The node serves chain ${actual}, but chain ${expected} is configured.`, { name: 'WrongChain' });
    this.message = this.shortMessage;
    this.expected = expected;
    this.actual = actual;
  }
}
