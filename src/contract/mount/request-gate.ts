import type { Context } from 'koa';
import type { Client } from '../../http/client-address.ts';
import { closeSignal } from '../../http/close-signal.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { EncodedBody, OperationRow } from '../contracts/operations.ts';
import { InvalidParameter } from '../contracts/violations.ts';
import { dropBody, parseBody, readBody } from './request-body.ts';

/** A request before anything of it was read but its head. */
export interface IncomingRequest {
  readonly operation: OperationRow;
  readonly method: string;
  /** Path with query, as it was sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Context['headers'];
  readonly client: Client;
  readonly requestId: string;
  /** What middleware before the mount left for the gate. */
  readonly state: Readonly<Context['state']>;
  /** A signal that aborts when the client hangs up, or else after the answer. */
  readonly hungUp: () => AbortSignal;
}

/** A request that names itself by `Idempotency-Key`. */
export interface Attempt extends IncomingRequest {
  readonly key: string;
  /** The bytes as they came; empty for an operation without a body. */
  readonly body: Buffer;
}

/** An answer of any operation. */
export type GateResponse = {
  status: number;
  headers?: Readonly<Record<string, string>>;
} & ({ body: unknown } | { encoded: EncodedBody<unknown> });

/**
 * What stands before the handlers of a service, in this order (Decision 100): `authenticate` (or `visit`), `admit`, `permit`,
 * `replay`. Each throws an HttpError to refuse.
 */
export interface Gate<Known, Visitor> {
  /** Who sends a request to an operation with security. @throws HttpError 401 */
  authenticate(request: IncomingRequest): Promise<Known>;
  /** Who sends a request to an operation without security. */
  visit(request: IncomingRequest): Promise<Visitor>;
  /** Counts a request; resolves to the headers that say so. @throws HttpError 429 with such headers of its own */
  admit(caller: Known | Visitor, request: IncomingRequest): Promise<Readonly<Record<string, string>>>;
  /** Judges by the roles of the operation's security requirement. @throws HttpError 403 */
  permit(caller: Known, roles: readonly string[]): void;
  /**
   * Stands around the rest of a request with an idempotency key: answers as before, refuses, or calls `proceed` once with
   * the caller as the handler is to see it, which may carry what has to be written together with the effect.
   */
  replay(
    caller: Known,
    attempt: Attempt,
    proceed: (caller: Known) => Promise<GateResponse>,
  ): Promise<GateResponse>;
}

/** The longest idempotency key, and what it is made of (Decision 106). */
const IDEMPOTENCY_KEY = /^[!-~]{1,256}$/;
const NO_BYTES = Buffer.alloc(0);

/**
 * Leads a request through a gate. `proceed` reads and validates the parameters and calls the handler with them, with the
 * caller, and with the parsed body where the operation takes one.
 */
export async function throughGate<Known, Visitor>(
  gate: Gate<Known, Visitor>,
  { operation, ctx }: { operation: OperationRow; ctx: Context },
  proceed: (caller: Known | Visitor, body: JsonObject | undefined) => Promise<GateResponse>,
): Promise<GateResponse> {
  const request = incoming(operation, ctx);
  // Errors have their own; what is one caller's may not be kept by anybody between us (Decision 118).
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
  const caller = await beforeBody(ctx, async () => {
    const known = await gate.authenticate(request);
    ctx.set({ ...(await gate.admit(known, request)) });
    gate.permit(known, rolesOf(operation));
    return known;
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
  return { operation, method, target, headers, client, requestId, state, hungUp };
}

/** A refusal here leaves a body unread, which may be endless. */
async function beforeBody<T>(ctx: Context, decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (refusal) {
    if (await dropBody(ctx.req)) ctx.set('Connection', 'close');
    throw refusal;
  }
}

/** Every alternative of an operation's security asks for the same roles; the schemes only say where the key stands. */
function rolesOf({ security }: OperationRow): readonly string[] {
  return Object.values(security[0] ?? {})[0] ?? [];
}

function idempotencyKey({ req }: Context): string | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new InvalidParameter('Idempotency-Key', 'must be 1 to 256 visible ASCII characters');
}

/** The body's bytes now and its value when it is asked for: a replayed request is told by the bytes alone. */
async function bodyReader(operation: OperationRow, { req }: Context) {
  if (operation.body !== true) return { bytes: NO_BYTES, parse: () => undefined };
  const bytes = await readBody(req);
  return { bytes, parse: () => parseBody(bytes, req.headers) };
}
