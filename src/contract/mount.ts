import type { Context as KoaContext, Middleware, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { HttpError } from '../http/errors.ts';
import { sendRepresentation } from '../http/send.ts';
import { toJson } from '../lib/json.ts';
import { type Representation, represent } from '../lib/representation.ts';
import type { Contract } from './contract.ts';
import type { Encoded, Handlers, OperationRow } from './operations.ts';
import { decodeSegment, type ParameterValues, readParameters } from './parameters.ts';
import { type Match, SegmentRouter } from './router.ts';
import { describeErrors, parameterViolation } from './violations.ts';

/** Judges a credential of one security scheme; a falsy answer or a throw means no. */
export type SecurityHandler = (context: KoaContext) => unknown;

export interface MountOptions<Operations> {
  contract: Contract<Operations>;
  handlers: Handlers<Operations>;
  security?: Readonly<Record<string, SecurityHandler>>;
  /** Checks every answer against the contract and refuses one that differs (tests, development). */
  validateResponses: boolean;
}

/** What the mount knows of every handler: the types of one operation are gone here, and only here. */
type AnyRequest = { readonly path: ParameterValues; readonly query: ParameterValues };
type AnyHandler = (request: AnyRequest, caller: { headers: KoaContext['headers'] }) => Promise<AnyResponse>;
type AnyResponse = {
  status: number;
  headers?: Readonly<Record<string, string>>;
} & ({ body: unknown } | { encoded: Encoded<unknown> });

/**
 * One Koa middleware that serves a contract: route, authenticate, read and validate, handle, send. A path that is
 * not in the contract goes on to the next middleware; a known path with another method is 405 with `Allow`.
 */
export async function mount<Operations>(options: MountOptions<Operations>): Promise<Middleware> {
  const { contract, security = {}, validateResponses } = options;
  const judge = validateResponses ? responseJudge(contract.name, await contract.responses()) : undefined;
  // The router picks a handler by text, and no type ties a text to one operation. Each handler still gets just what its
  // type says: its request was read and validated by the same contract that the type was generated from.
  const handlers = options.handlers as unknown as Record<string, AnyHandler>;
  const definition = routedDefinition(contract);
  const router = new SegmentRouter(definition, contract.table);

  const requestOf = requestReader(contract);

  const serve =
    (row: OperationRow, handle: AnyHandler) => async (_: Context, ctx: KoaContext, match: Match) => {
      const request = requestOf(row, ctx, match);
      const response = await handle(request, { headers: ctx.headers });
      const representation = await bytesOf(response);
      await judge?.(row, response.status, representation);
      sendRepresentation(ctx, representation, response.headers ?? {}, response.status);
    };

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
        Object.values(contract.table).map(row => [row.id, serve(row, handlerOf(handlers, row.id))]),
      ),
      unauthorizedHandler: () => {
        throw new HttpError(401, 'No valid credentials were given');
      },
    },
  });
  await backend.init();
  backend.router = router;

  return async (ctx: KoaContext, next: Next) => {
    const match = router.match(ctx.method, ctx.path);
    if (match === undefined) return next();
    if ('allowed' in match) {
      throw new HttpError(405, `${ctx.method} is not allowed here`, {
        headers: { Allow: match.allowed.join(', ') },
      });
    }
    ctx.state.operationId = match.operation.id;
    await backend.handleRequest({ method: ctx.method, path: ctx.path, query: {}, headers: {} }, ctx, match);
  };
}

/** Targets remembered, and the longest of them. */
const REMEMBERED = 2_000;
const LONGEST_REMEMBERED = 512;

/**
 * Reads and validates the parameters of a request. Clients ask for the same again and again, so what a valid target
 * means is worked out once: equal targets get the very same request, which nobody may change.
 */
function requestReader<Operations>(contract: Contract<Operations>) {
  const known = new LRUCache<string, AnyRequest>({ max: REMEMBERED });
  return (row: OperationRow, ctx: KoaContext, match: Match): AnyRequest => {
    const target = ctx.url;
    const before = isRead(row) ? known.get(target) : undefined;
    if (before !== undefined) return before;
    const segments: Record<string, string> = 'segments' in match ? match.segments : {};
    for (const name in segments) segments[name] = decodeSegment(segments[name] ?? '');
    const request = readParameters(row, segments, ctx.querystring);
    const validate = contract.parameters[row.id];
    if (validate === undefined) throw new Error(`no parameter validator for ${row.id}`);
    if (!validate(request)) throw parameterViolation(validate.errors);
    if (target.length <= LONGEST_REMEMBERED && isRead(row)) known.set(target, request);
    return request;
  };
}

/** GET and HEAD of one target mean the same operation; other methods may not. */
function isRead(row: OperationRow): boolean {
  return row.method === 'get';
}

function handlerOf(handlers: Record<string, AnyHandler>, id: string): AnyHandler {
  const handler = handlers[id];
  if (handler === undefined) throw new Error(`operation ${id} has no handler`);
  return handler;
}

async function bytesOf(response: AnyResponse): Promise<Representation> {
  return 'encoded' in response ? response.encoded.representation : represent(toJson(response.body));
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

/** Refuses an answer that the contract does not allow. A representation that passed once is not judged again. */
function responseJudge(name: string, validators: Awaited<ReturnType<Contract<unknown>['responses']>>) {
  const passed = new WeakSet<Representation>();
  return async (row: OperationRow, status: number, representation: Representation): Promise<void> => {
    if (passed.has(representation)) return;
    const validate = validators[`${row.id}_${status}`];
    if (validate === undefined) throw new Error(`${name}: ${row.id} does not declare status ${status}`);
    if (!validate(JSON.parse(representation.identity.toString()))) {
      throw new Error(
        `${name}: the ${status} answer of ${row.id} breaks the contract: ${describeErrors(validate.errors)}`,
      );
    }
    passed.add(representation);
  };
}
