import type { Context as KoaContext, Middleware } from 'koa';
import { type Coding, type Representation, uncompressed, withForm } from '../../http/representation.ts';
import { preferredCoding, sendRepresentation } from '../../http/send.ts';
import { toJson } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { GatedHandlers, Handlers, OperationRow } from '../contracts/operations.ts';
import { type ReadRequest, requestReader, validBody } from './parameters.ts';
import { registry, type SecurityHandler } from './registry.ts';
import { type Gate, type GateResponse, throughGate } from './request-gate.ts';
import { responseJudge } from './response-validators.ts';
import type { PathSegments } from './router.ts';

export interface MountOptions<Operations> {
  contract: Contract<Operations>;
  handlers: Handlers<Operations>;
  security?: Readonly<Record<string, SecurityHandler>>;
  /** Checks every response against the contract and rejects violations (tests, development). */
  validateResponses: boolean;
}

export interface GatedMountOptions<Operations, Public extends keyof Operations, Known, Visitor> {
  contract: Contract<Operations>;
  handlers: GatedHandlers<Operations, Public, Known, Visitor>;
  /** Runs before every handler. */
  gate: Gate<Known, Visitor>;
  validateResponses: boolean;
}

/** Handler with the types of its operation erased, which happens only here. */
type AnyHandler = (
  request: ReadRequest & { readonly body?: JsonObject },
  caller: unknown,
) => Promise<GateResponse>;

/** Responds to one operation. */
type Answer = (
  row: OperationRow,
  handle: AnyHandler,
  ctx: KoaContext,
  segments: PathSegments,
) => Promise<GateResponse>;

/** Responses behind a gate go to one caller once, so compression pays off only for long ones. */
const GATED_COMPRESSED_FROM_BYTES = 16 * 1024;

/**
 * Koa middleware that serves a contract: route, authenticate, parse and validate, call the handler, send. An unknown
 * path goes on to the next middleware; a known path with another method is 405 with `Allow`.
 */
export async function mount<Operations>(options: MountOptions<Operations>): Promise<Middleware> {
  const { contract, security = {}, validateResponses } = options;
  const requestOf = requestReader(contract);
  return middleware(contract, {
    handlers: options.handlers,
    security,
    validateResponses,
    unknownMethod: 405,
    answer: (row, handle, ctx, segments) =>
      handle(requestOf(row, ctx, segments), { headers: ctx.headers, client: ctx.state.countedClient }),
  });
}

/**
 * Koa middleware for a contract behind a gate: route, authenticate, limit, permit, replay, parse and validate, call the
 * handler, send. The gate's order is fixed (Decision 100). A known path with another method is 404 with `Allow`
 * (Decision 103).
 */
export async function mountGated<Operations, Public extends keyof Operations, Known, Visitor>(
  options: GatedMountOptions<Operations, Public, Known, Visitor>,
): Promise<Middleware> {
  const { contract, gate, validateResponses } = options;
  const requestOf = requestReader(contract);
  return middleware(contract, {
    handlers: options.handlers,
    security: undefined,
    validateResponses,
    unknownMethod: 404,
    answer: (operation, handle, ctx, segments) =>
      throughGate(gate, { operation, ctx }, (caller, body) => {
        const request = requestOf(operation, ctx, segments);
        return handle(
          body === undefined ? request : { ...request, body: validBody(contract, operation, body) },
          caller,
        );
      }),
    compressedFrom: GATED_COMPRESSED_FROM_BYTES,
  });
}

interface Parts {
  handlers: object;
  /** Undefined when a gate checks credentials. */
  security: Readonly<Record<string, SecurityHandler>> | undefined;
  validateResponses: boolean;
  unknownMethod: 404 | 405;
  answer: Answer;
  /** Minimum size in bytes for compressing a response that is not yet encoded; the default size when absent. */
  compressedFrom?: number;
}

async function middleware<Operations>(contract: Contract<Operations>, parts: Parts): Promise<Middleware> {
  const { security, unknownMethod, answer } = parts;
  const judge = parts.validateResponses ? responseJudge(contract) : undefined;

  return registry(contract, {
    security,
    unknownMethod,
    handlerOf: row => {
      const handle = handlerOf(parts.handlers, row.id);
      return async (ctx, segments) => {
        const response = await answer(row, handle, ctx, segments);
        const representation = await encoded(response, row, {
          coding: preferredCoding(ctx.req.headers['accept-encoding']),
          compressedFrom: parts.compressedFrom,
        });
        if ('encoded' in response) ctx.state.repeatable = response.encoded.repeatable;
        await judge?.(row, response.status, representation);
        const media = row.media?.[response.status];
        if (media !== undefined) ctx.res.setHeader('Content-Type', media);
        sendRepresentation(ctx, representation, response.headers ?? {}, response.status);
      };
    },
  });
}

/** Looks up a handler. @throws Error when missing, because a service must not start without it */
function handlerOf(handlers: object, id: string): AnyHandler {
  const handler: unknown = Reflect.get(handlers, id);
  if (!isHandler(handler)) throw new Error(`operation ${id} has no handler`);
  return handler;
}

/**
 * The router selects a handler by text, which no type ties to an operation. Each handler still receives its declared
 * type: the same contract generated the type and validated the request.
 */
function isHandler(value: unknown): value is AnyHandler {
  return typeof value === 'function';
}

async function encoded(
  response: GateResponse,
  row: OperationRow,
  { coding, compressedFrom }: { coding: Coding; compressedFrom: number | undefined },
): Promise<Representation> {
  if ('encoded' in response) return response.encoded.representation;
  const isText = row.media?.[response.status] !== undefined;
  const plain = uncompressed(isText ? String(response.body) : toJson(response.body));
  return withForm(plain, coding, compressedFrom);
}
