import type { Context } from 'koa';
import { closeSignal } from '../../http/app/request-state.ts';
import type { Client } from '../../http/client-address.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { EncodedBody, OperationRow, StreamedBody } from '../contracts/operations.ts';
import { InvalidParameter } from '../contracts/violations.ts';
import { dropBody, parseBody, readBody } from './request-body.ts';

/** Request of which only the head was read. */
export interface IncomingRequest {
  readonly operation: OperationRow;
  readonly method: string;
  /** Path with query, as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Context['headers'];
  readonly client: Client;
  readonly requestId: string;
  /** State left by earlier middleware. */
  readonly state: Readonly<Context['state']>;
  /** Names the caller in the access log. */
  readonly identify: (caller: NonNullable<Context['state']['caller']>) => void;
  /** Returns a signal that aborts when the client disconnects, or after the response has been sent. */
  readonly hungUp: () => AbortSignal;
}

/** Request with an `Idempotency-Key`. */
export interface KeyedRequest extends IncomingRequest {
  readonly key: string;
  /** Raw bytes; empty for an operation without a body. */
  readonly body: Buffer;
}

/** Response of any operation. */
export type GateResponse = {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** True for the response to an earlier request, perhaps by a version whose contract had fewer fields. */
  isReplayed?: boolean;
} & ({ body: unknown } | { encoded: EncodedBody<unknown> } | { streamed: StreamedBody });

/**
 * Checks before the handlers of a service, in this fixed order (Decision 100): `authenticate` (or `visit`), `admit`,
 * `permit`, `replay`. Each throws an HttpError to refuse.
 */
export interface Gate<Known, Visitor> {
  /** Identifies the caller of an operation with security. @throws HttpError 401 */
  authenticate(request: IncomingRequest): Promise<Known>;
  /** Identifies the caller of an operation without security. */
  visit(request: IncomingRequest): Promise<Visitor>;
  /** Counts a request and resolves to the rate limit headers. @throws HttpError 429 with its own rate limit headers */
  admit(caller: Known | Visitor, request: IncomingRequest): Promise<Readonly<Record<string, string>>>;
  /** Checks the caller against the roles of the operation's security requirement. @throws HttpError 403 */
  permit(caller: Known, roles: readonly string[]): void;
  /**
   * Handles a request with an idempotency key: replays the stored response, refuses, or calls `proceed` once. The
   * caller passed to `proceed` may carry data to be written in the same transaction as the effect.
   */
  replay(
    caller: Known,
    attempt: KeyedRequest,
    proceed: (caller: Known) => Promise<GateResponse>,
  ): Promise<GateResponse>;
}

/** Allowed length and characters of an idempotency key (Decision 106). */
const IDEMPOTENCY_KEY = /^[!-~]{1,256}$/;
const NO_BYTES = Buffer.alloc(0);

/** Identifies the caller of a request to an operation with security. */
export type Authenticate<Known> = (operation: OperationRow, ctx: Context) => Promise<Known>;

/**
 * Authenticates each request once. Several security schemes of an operation carry the same key (Decision 104), and
 * each of them asks.
 */
export function authentication<Known, Visitor>(gate: Gate<Known, Visitor>): Authenticate<Known> {
  const callers = new WeakMap<Context, Promise<Known>>();
  return (operation, ctx) => {
    const asked = callers.get(ctx);
    if (asked !== undefined) return asked;
    const caller = beforeBody(ctx, () => gate.authenticate(incoming(operation, ctx)));
    callers.set(ctx, caller);
    return caller;
  };
}

/**
 * Passes a request through a gate. `proceed` validates the parameters and calls the handler with the caller, and with
 * the parsed body when the operation takes one.
 */
export async function throughGate<Known, Visitor>(
  { gate, authenticate }: { gate: Gate<Known, Visitor>; authenticate: Authenticate<Known> },
  { operation, ctx }: { operation: OperationRow; ctx: Context },
  proceed: (caller: Known | Visitor, body: JsonObject | undefined) => Promise<GateResponse>,
): Promise<GateResponse> {
  const request = incoming(operation, ctx);
  // Errors set their own. A response for one caller must not be stored by shared caches (Decision 118).
  ctx.set('Cache-Control', operation.method === 'get' ? 'private, no-cache' : 'no-store');
  if (operation.security.length === 0) {
    const visitor = await beforeBody(ctx, async () => {
      const caller = await gate.visit(request);
      ctx.set({ ...(await gate.admit(caller, request)) });
      return caller;
    });
    const read = await bodyReader(operation, ctx);
    return proceed(visitor, read.parse());
  }
  const caller = await authenticate(operation, ctx);
  await beforeBody(ctx, async () => {
    ctx.set({ ...(await gate.admit(caller, request)) });
    gate.permit(caller, rolesOf(operation));
  });
  const key = operation.replayable === true ? idempotencyKey(ctx) : undefined;
  const { bytes, parse } = await bodyReader(operation, ctx);
  const rest = (known: Known) => proceed(known, parse());
  return key === undefined ? rest(caller) : gate.replay(caller, { ...request, key, body: bytes }, rest);
}

function incoming(operation: OperationRow, ctx: Context): IncomingRequest {
  const { method, url: target, headers, state } = ctx;
  const { client, requestId } = state;
  const hungUp = () => closeSignal(ctx);
  const identify: IncomingRequest['identify'] = caller => {
    state.caller = caller;
  };
  return { operation, method, target, headers, client, requestId, state, identify, hungUp };
}

/** Drops the body on a refusal, because an unread body may be endless. */
async function beforeBody<T>(ctx: Context, decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (refusal) {
    if (await dropBody(ctx.req)) ctx.set('Connection', 'close');
    throw refusal;
  }
}

/**
 * Roles of an operation. All alternatives of its security require the same roles; the schemes differ only in the key's
 * location.
 */
function rolesOf({ security }: OperationRow): readonly string[] {
  return Object.values(security[0] ?? {})[0] ?? [];
}

function idempotencyKey({ req }: Context): string | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new InvalidParameter('Idempotency-Key', 'must be 1 to 256 visible ASCII characters');
}

/** Reads the body's bytes and defers parsing: a replayed request is recognized by its bytes alone. */
async function bodyReader(operation: OperationRow, { req }: Context) {
  if (operation.body !== true) return { bytes: NO_BYTES, parse: () => undefined };
  const bytes = await readBody(req, operation.maxBodyBytes);
  return { bytes, parse: () => parseBody(bytes, req.headers) };
}
