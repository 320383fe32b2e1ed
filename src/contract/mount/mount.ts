import { Readable } from 'node:stream';
import type { Context as KoaContext, Middleware, Next } from 'koa';
import { type Context, OpenAPIBackend } from 'openapi-backend';
import { HttpError, methodError } from '../../http/errors.ts';
import { type Coding, type Representation, uncompressed, withForm } from '../../http/representation.ts';
import { preferredCoding, sendRepresentation } from '../../http/send.ts';
import { sendStream } from '../../http/send-stream.ts';
import { toJson } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { GatedHandlers, Handlers, OperationRow } from '../contracts/operations.ts';
import { type ReadRequest, requestReader, validBody } from './parameters.ts';
import { authentication, type Gate, type GateResponse, throughGate } from './request-gate.ts';
import { checkedEvents, responseCheck } from './response-validators.ts';
import { type PathSegments, routedDocument, SegmentRouter } from './router.ts';

export interface MountOptions<Operations> {
  contract: Contract<Operations>;
  handlers: Handlers<Operations>;
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

/** Handler with the types of its operation erased, because the library selects it by text. */
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
 * Koa middleware that serves a contract without security: route, parse and validate, call the handler, send. An unknown
 * path goes on to the next middleware; a known path with another method is 405 with `Allow`.
 */
export async function mount<Operations>(options: MountOptions<Operations>): Promise<Middleware> {
  const { contract, handlers, validateResponses } = options;
  const requestOf = requestReader(contract);
  return middleware(contract, {
    handlers,
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
  const { contract, handlers, gate, validateResponses } = options;
  const requestOf = requestReader(contract);
  const authenticate = authentication(gate);
  return middleware(contract, {
    handlers,
    validateResponses,
    unknownMethod: 404,
    authenticate,
    answer: (operation, handle, ctx, segments) =>
      throughGate({ gate, authenticate }, { operation, ctx }, (caller, body) => {
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
  validateResponses: boolean;
  unknownMethod: 404 | 405;
  /** Checks the credentials of a request in any scheme; without it, an operation with security is refused. */
  authenticate?: (row: OperationRow, ctx: KoaContext) => Promise<unknown>;
  answer: Answer;
  /** Minimum size in bytes for compressing a response that is not yet encoded; the default size when absent. */
  compressedFrom?: number;
}

/**
 * Serves a contract's document with openapi-backend: one route match, the security of the operation, its handler, and
 * the check of the response in tests and development. The library's validators of requests are off: ours are generated.
 */
async function middleware<Operations>(contract: Contract<Operations>, parts: Parts): Promise<Middleware> {
  const { unknownMethod, authenticate = refuse, answer, compressedFrom } = parts;
  const rows = new Map(Object.values<OperationRow>(contract.table).map(row => [row.id, row]));
  const logged = new Map([...rows.values()].map(row => [row.id, loggedParameters(row)]));
  const check = parts.validateResponses ? responseCheck(contract) : undefined;

  const definition = routedDocument(contract);
  const backend = new OpenAPIBackend({ definition, quick: true, validate: false, strict: true });
  await backend.init();
  const router = new SegmentRouter(backend.definition);
  backend.router = router;
  backend.register({
    ...Object.fromEntries(
      [...rows.values()].flatMap(row => {
        const handle = handlerOf(parts.handlers, row.id);
        if (handle === undefined) return [];
        const respond = ({ request }: Context, ctx: KoaContext) => answer(row, handle, ctx, request.params);
        return [[row.id, respond]];
      }),
    ),
    // Runs before the credential check, so that refusals also count towards the operation.
    postRoutingHandler: ({ operation }: Partial<Context>, ctx: KoaContext) => {
      if (operation?.operationId === undefined) return;
      ctx.state.operationId = operation.operationId;
      ctx.state.loggedParameters = logged.get(operation.operationId);
    },
    notFound: async (_: Context, _ctx: KoaContext, next: Next) => {
      await next();
    },
    methodNotAllowed: (_: Context, ctx: KoaContext) => {
      throw methodError(ctx.method, router.methodsAt(ctx.path), unknownMethod);
    },
    notImplemented: () => {
      throw new HttpError(501, 'This operation is not implemented');
    },
    unauthorizedHandler: async (context: Context, ctx: KoaContext) => {
      await authenticate(rowOf(context), ctx); // Throws the refusal that the library kept.
      return refuse();
    },
    postResponseHandler: async (context: Context, ctx: KoaContext) => {
      const response: GateResponse | undefined = context.response;
      if (response === undefined) return;
      const row = rowOf(context);
      if ('body' in response && response.body instanceof Readable) {
        const { status, headers = {}, body } = response;
        ctx.set({ ...headers, 'Content-Type': row.media?.[status] ?? '' });
        ctx.status = status;
        ctx.body = parts.validateResponses ? checkedEvents(contract, row, body) : body;
        return;
      }
      const media = row.media?.[response.status];
      if (media !== undefined) ctx.res.setHeader('Content-Type', media);
      if ('streamed' in response) return sendStream(ctx, response.streamed, response.headers ?? {});
      const representation = await encoded(response, row, {
        coding: preferredCoding(ctx.req.headers['accept-encoding']),
        compressedFrom,
      });
      if ('encoded' in response) ctx.state.repeatable = response.encoded.repeatable;
      if (response.isReplayed !== true) await check?.(row, response.status, representation);
      sendRepresentation(ctx, representation, response.headers ?? {}, response.status);
    },
  });
  for (const scheme of Object.keys(definition.components?.securitySchemes ?? {})) {
    backend.registerSecurityHandler(scheme, async (context: Context, ctx: KoaContext) => {
      await authenticate(rowOf(context), ctx);
      return true;
    });
  }
  return (ctx, next) => backend.handleRequest({ method: ctx.method, path: ctx.path, headers: {} }, ctx, next);

  function rowOf({ operation: { operationId = '' } }: Context): OperationRow {
    const row = rows.get(operationId);
    if (row === undefined) throw new Error(`${contract.name}: no row for ${operationId}`);
    return row;
  }
}

/** Refuses every credential: a contract without a gate serves no operation with security. */
async function refuse(): Promise<never> {
  throw new HttpError(401, 'No valid credentials were given');
}

function loggedParameters({ parameters }: OperationRow): ReadonlySet<string> {
  const logged = parameters.filter(parameter => parameter.in === 'query' && parameter.unlogged !== true);
  return new Set(logged.map(parameter => parameter.name));
}

function handlerOf(handlers: object, id: string): AnyHandler | undefined {
  const handler: unknown = Reflect.get(handlers, id);
  return isHandler(handler) ? handler : undefined;
}

/**
 * The router selects a handler by text, which no type ties to an operation. Each handler still receives its declared
 * type: the same contract generated the type and validated the request.
 */
function isHandler(value: unknown): value is AnyHandler {
  return typeof value === 'function';
}

async function encoded(
  response: Exclude<GateResponse, { streamed: unknown }>,
  row: OperationRow,
  { coding, compressedFrom }: { coding: Coding; compressedFrom: number | undefined },
): Promise<Representation> {
  if ('encoded' in response) return response.encoded.representation;
  const isText = row.media?.[response.status] !== undefined;
  const plain = uncompressed(isText ? String(response.body) : toJson(response.body));
  return withForm(plain, coding, compressedFrom);
}
