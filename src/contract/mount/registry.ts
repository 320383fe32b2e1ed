import type { Context as KoaContext, Middleware, Next } from 'koa';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { HttpError, methodError } from '../../http/errors.ts';
import type { Contract } from '../contracts/contract.ts';
import type { OperationRow, OperationTable } from '../contracts/operations.ts';
import { type PathSegments, SegmentRouter } from './router.ts';

/** Judges a credential of one security scheme; a falsy answer or a throw means no. */
export type SecurityHandler = (context: KoaContext) => unknown;

export interface RegistryOptions {
  /** Judges by security scheme; undefined where a gate behind the registry judges credentials. */
  security: Readonly<Record<string, SecurityHandler>> | undefined;
  /** Status of a known path with another method. */
  unknownMethod: 404 | 405;
  /** Handler of one operation. @throws Error when there is none */
  handlerOf(row: OperationRow): RegisteredHandler;
}

/** Serves a request to one operation. */
export type RegisteredHandler = (ctx: KoaContext, segments: PathSegments) => Promise<void>;

/**
 * Registry and dispatcher of a contract's operations, by openapi-backend: one route match, then the security handlers,
 * then the operation's handler. A path that is not in the contract goes on to the next middleware.
 */
export async function registry(
  { name, table }: Pick<Contract<unknown>, 'name' | 'table'>,
  { security, unknownMethod, handlerOf }: RegistryOptions,
): Promise<Middleware> {
  const definition = definitionOf(name, table);
  const router = new SegmentRouter(definition, security === undefined ? withoutSecurity(table) : table);
  // The library's own validators are off: ours are generated, and an answer's are compiled where answers are checked.
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
    // Before credentials are judged, so that a refusal is counted as the operation's, too.
    postRoutingHandler: ({ operation }: Partial<Context>, ctx: KoaContext) => {
      if (operation?.operationId !== undefined) ctx.state.operationId = operation.operationId;
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

/** As much of a document as openapi-backend needs: the operations come with the router. */
function definitionOf(name: string, table: OperationTable): Document {
  const schemes = Object.values(table).flatMap(({ security }) => security.flatMap(Object.keys));
  // Only their names count: what a credential must be like is the security handlers' business.
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

/** Two schemes carry one key, which a gate judges once (Decision 104); openapi-backend would judge each by itself. */
function withoutSecurity(table: OperationTable): OperationTable {
  return Object.fromEntries(Object.entries(table).map(([id, row]) => [id, { ...row, security: [] }]));
}
