import type { Context as KoaContext, Middleware, Next } from 'koa';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { HttpError, methodError } from '../../http/errors.ts';
import type { Contract } from '../contracts/contract.ts';
import type { OperationRow, OperationTable } from '../contracts/operations.ts';
import { type PathSegments, SegmentRouter } from './router.ts';

/** Checks a credential of one security scheme. A falsy result or an exception refuses it. */
export type SecurityHandler = (context: KoaContext) => unknown;

export interface RegistryOptions {
  /** Credential checks by security scheme; undefined when a gate behind the registry checks credentials. */
  security: Readonly<Record<string, SecurityHandler>> | undefined;
  /** Response status for a known path with another method. */
  unknownMethod: 404 | 405;
  /** Returns the handler of an operation. @throws Error when there is none */
  handlerOf(row: OperationRow): RegisteredHandler;
}

/** Serves a request of one operation. */
export type RegisteredHandler = (ctx: KoaContext, segments: PathSegments) => Promise<void>;

/**
 * Dispatches requests to a contract's operations with openapi-backend: one route match, the security handlers, then the
 * operation's handler. An unknown path goes on to the next middleware.
 */
export async function registry(
  { name, table }: Pick<Contract<unknown>, 'name' | 'table'>,
  { security, unknownMethod, handlerOf }: RegistryOptions,
): Promise<Middleware> {
  const definition = definitionOf(name, table);
  const logged = new Map(Object.values(table).map(row => [row.id, loggedParameters(row)]));
  const router = new SegmentRouter(definition, security === undefined ? withoutSecurity(table) : table);
  // The library's validators are off: ours are generated, and those of responses are compiled on use.
  const backend = new OpenAPIBackend({ definition, quick: true, validate: false, strict: true });
  await backend.init();
  backend.router = router;
  backend.register({
    ...Object.fromEntries(
      Object.values(table).map(row => {
        const handle = handlerOf(row);
        return [row.id, ({ request }: Context, ctx: KoaContext) => handle(ctx, request.params)];
      }),
    ),
    // Runs before the credential check, so that refusals also count towards the operation.
    postRoutingHandler: ({ operation }: Partial<Context>, ctx: KoaContext) => {
      if (operation?.operationId === undefined) return;
      ctx.state.operationId = operation.operationId;
      ctx.state.loggedParameters = logged.get(operation.operationId);
    },
    notFound: (_: Context, _ctx: KoaContext, next: Next) => next(),
    methodNotAllowed: (_: Context, ctx: KoaContext) => {
      throw methodError(ctx.method, router.methodsAt(ctx.path), unknownMethod);
    },
    unauthorizedHandler: () => {
      throw new HttpError(401, 'No valid credentials were given');
    },
  });
  for (const [scheme, judgeCredential] of Object.entries(security ?? {})) {
    backend.registerSecurityHandler(scheme, (_: Context, ctx: KoaContext) => judgeCredential(ctx));
  }
  return (ctx, next) => backend.handleRequest({ method: ctx.method, path: ctx.path, headers: {} }, ctx, next);
}

function loggedParameters({ parameters }: OperationRow): ReadonlySet<string> {
  const logged = parameters.filter(parameter => parameter.in === 'query' && parameter.unlogged !== true);
  return new Set(logged.map(parameter => parameter.name));
}

/** Minimal document for openapi-backend. The operations come with the router. */
function definitionOf(name: string, table: OperationTable): Document {
  const schemes = Object.values(table).flatMap(({ security }) => security.flatMap(Object.keys));
  // Only the names matter: the security handlers check the credentials.
  const securitySchemes = Object.fromEntries(
    schemes.map(scheme => [scheme, { type: 'http' as const, scheme: 'bearer' }]),
  );
  return {
    openapi: '3.1.0',
    info: { title: name, version: '1' },
    paths: {},
    components: { securitySchemes },
  };
}

/**
 * Removes security requirements. Two schemes carry the same key, and the gate checks it once (Decision 104);
 * openapi-backend would check each.
 */
function withoutSecurity(table: OperationTable): OperationTable {
  return Object.fromEntries(Object.entries(table).map(([id, row]) => [id, { ...row, security: [] }]));
}
