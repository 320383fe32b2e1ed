import type { Context as KoaContext, Middleware, Next } from 'koa';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { HttpError } from '../../http/errors.ts';
import { type Representation, represent } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import { toJson } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { GatedHandlers, Handlers, OperationRow, OperationTable } from '../contracts/operations.ts';
import { type ReadRequest, requestReader, validBody } from './read-request.ts';
import { type Gate, type GateResponse, throughGate } from './request-gate.ts';
import { responseJudge } from './response-check.ts';
import { type Match, SegmentRouter } from './router.ts';

/** Judges a credential of one security scheme; a falsy answer or a throw means no. */
export type SecurityHandler = (context: KoaContext) => unknown;

export interface MountOptions<Operations> {
  contract: Contract<Operations>;
  handlers: Handlers<Operations>;
  security?: Readonly<Record<string, SecurityHandler>>;
  /** Checks every answer against the contract and refuses one that differs (tests, development). */
  validateResponses: boolean;
}

export interface GatedMountOptions<Operations, Public extends keyof Operations, Known, Visitor> {
  contract: Contract<Operations>;
  handlers: GatedHandlers<Operations, Public, Known, Visitor>;
  /** Stands before every handler. */
  gate: Gate<Known, Visitor>;
  validateResponses: boolean;
}

/** What the mount knows of every handler: the types of one operation are gone here, and only here. */
type AnyHandler = (
  request: ReadRequest & { readonly body?: JsonObject },
  caller: unknown,
) => Promise<GateResponse>;

/** Answers one operation. */
type Serve = (row: OperationRow, handle: AnyHandler, ctx: KoaContext, match: Match) => Promise<GateResponse>;

/** An answer behind a gate is one caller's and sent once, so compressing it pays only where it is long. */
const GATED_COMPRESSED_FROM_BYTES = 16 * 1024;

/**
 * One Koa middleware that serves a contract: route, authenticate, read and validate, handle, send. A path that is
 * not in the contract goes on to the next middleware; a known path with another method is 405 with `Allow`.
 */
export async function mount<Operations>(options: MountOptions<Operations>): Promise<Middleware> {
  const { contract, security = {}, validateResponses } = options;
  const requestOf = requestReader(contract);
  return middleware(contract, {
    handlers: options.handlers,
    security,
    validateResponses,
    unknownMethod: 405,
    answer: (row, handle, ctx, match) => handle(requestOf(row, ctx, match), { headers: ctx.headers }),
    bytesOf: response => bytesOf(response),
  });
}

/**
 * The same behind a gate: route, authenticate, limit, permit, replay, read and validate parameters and body, handle, send
 * (Decision 100). A known path with another method is 404 with `Allow` (Decision 103).
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
    answer: (operation, handle, ctx, match) =>
      throughGate(gate, { operation, ctx }, (caller, body) => {
        const request = requestOf(operation, ctx, match);
        return handle(
          body === undefined ? request : { ...request, body: validBody(contract, operation, body) },
          caller,
        );
      }),
    bytesOf: (response, row) => bytesOf(response, row, GATED_COMPRESSED_FROM_BYTES),
  });
}

interface Parts {
  handlers: object;
  /** Undefined where a gate judges credentials. */
  security: Readonly<Record<string, SecurityHandler>> | undefined;
  validateResponses: boolean;
  unknownMethod: 404 | 405;
  answer: Serve;
  bytesOf(response: GateResponse, row: OperationRow): Promise<Representation>;
}

async function middleware<Operations>(contract: Contract<Operations>, parts: Parts): Promise<Middleware> {
  const { security, unknownMethod, answer } = parts;
  const judge = parts.validateResponses ? responseJudge(contract) : undefined;
  const handlers = new Map(Object.keys(contract.table).map(id => [id, handlerOf(parts.handlers, id)]));
  const definition = routedDefinition(contract);
  const router = new SegmentRouter(definition, contract.table);

  const serve = async (row: OperationRow, ctx: KoaContext, match: Match): Promise<void> => {
    const handle = handlers.get(row.id);
    if (handle === undefined) throw withoutHandler(row.id);
    const response = await answer(row, handle, ctx, match);
    const representation = await parts.bytesOf(response, row);
    await judge?.(row, response.status, representation);
    const media = row.media?.[response.status];
    if (media !== undefined) ctx.res.setHeader('Content-Type', media);
    sendRepresentation(ctx, representation, response.headers ?? {}, response.status);
  };
  const dispatch =
    security === undefined
      ? serve
      : await secured(serve, { security, definition, router, table: contract.table });

  return async (ctx: KoaContext, next: Next) => {
    const match = router.match(ctx.method, ctx.path);
    if (match === undefined) return next();
    if ('allowed' in match) {
      throw new HttpError(unknownMethod, `${ctx.method} is not allowed here`, {
        headers: { Allow: match.allowed.join(', ') },
      });
    }
    ctx.state.operationId = match.operation.id;
    await dispatch(match.operation, ctx, match);
  };
}

type Dispatch = (row: OperationRow, ctx: KoaContext, match: Match) => Promise<void>;

/** Leads to `serve` past the security handlers, by openapi-backend. */
async function secured(
  serve: Dispatch,
  { security, definition, router, table }: SecuredOperations,
): Promise<Dispatch> {
  const backend = new OpenAPIBackend({
    definition,
    quick: true,
    validate: false,
    strict: true,
    securityHandlers: Object.fromEntries(
      Object.entries(security).map(([name, judgeCredential]) => [
        name,
        (_: Context, ctx: KoaContext) => judgeCredential(ctx),
      ]),
    ),
    handlers: {
      ...Object.fromEntries(
        Object.values(table).map(row => [
          row.id,
          (_: Context, ctx: KoaContext, match: Match) => serve(row, ctx, match),
        ]),
      ),
      unauthorizedHandler: () => {
        throw new HttpError(401, 'No valid credentials were given');
      },
    },
  });
  await backend.init();
  backend.router = router;
  return (_, ctx, match) =>
    backend.handleRequest({ method: ctx.method, path: ctx.path, query: {}, headers: {} }, ctx, match);
}

interface SecuredOperations {
  readonly security: Readonly<Record<string, SecurityHandler>>;
  readonly definition: Document;
  readonly router: SegmentRouter;
  readonly table: OperationTable;
}

/** @throws Error when there is none: a service must not start with a gap. */
function handlerOf(handlers: object, id: string): AnyHandler {
  const handler: unknown = Reflect.get(handlers, id);
  if (!isHandler(handler)) throw withoutHandler(id);
  return handler;
}

/**
 * The router picks a handler by text, and no type ties a text to one operation. Each handler still gets just what its
 * type says: its request was read and validated by the same contract that the type was generated from.
 */
function isHandler(value: unknown): value is AnyHandler {
  return typeof value === 'function';
}

function withoutHandler(id: string): Error {
  return new Error(`operation ${id} has no handler`);
}

async function bytesOf(
  response: GateResponse,
  row?: OperationRow,
  compressedFrom?: number,
): Promise<Representation> {
  if ('encoded' in response) return response.encoded.representation;
  const isText = row?.media?.[response.status] !== undefined;
  return represent(isText ? String(response.body) : toJson(response.body), compressedFrom);
}

/** As much of the document as openapi-backend needs: it routes by our tree and reads parameters by our table. */
function routedDefinition<Operations>({ name, table }: Contract<Operations>): Document {
  const paths: Record<string, Record<string, object>> = {};
  for (const row of Object.values<OperationRow>(table)) {
    const security = row.security.map(requirement =>
      Object.fromEntries(Object.entries(requirement).map(([scheme, roles]) => [scheme, [...roles]])),
    );
    paths[row.path] = { ...paths[row.path], [row.method]: { operationId: row.id, security, responses: {} } };
  }
  const schemes = Object.values<OperationRow>(table).flatMap(row => row.security.flatMap(Object.keys));
  // Only their names count: what a credential must be like is the security handlers' business.
  const securitySchemes = Object.fromEntries(
    schemes.map(scheme => [scheme, { type: 'http' as const, scheme: 'bearer' }]),
  );
  return { openapi: '3.1.0', info: { title: name, version: '1' }, paths, components: { securitySchemes } };
}
