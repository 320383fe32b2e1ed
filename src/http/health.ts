import type Router from '@koa/router';
import type { Context } from 'koa';
import { inTime, Late } from '../lib/in-time.ts';
import type { Logger } from '../lib/logger.ts';

/** Readiness check. `detail` is visible to every caller. A check that throws has failed. */
export type ReadinessCheck = () => Outcome | Promise<Outcome>;

type Outcome = { ok: boolean; detail?: string };

const CHECK_TIMEOUT_MS = 2_000;
const LEAVING: Readonly<Record<string, Outcome>> = { process: { ok: false, detail: 'stopping' } };

/**
 * Registers two routes. GET /healthz: 200 as long as the process responds. GET /readyz: 200 when every check passes,
 * else 503, with the outcome of each. A check that takes longer than two seconds has failed.
 */
export function healthRoutes(
  router: Router,
  {
    checks,
    isLeaving = () => false,
  }: {
    /** Current checks at the time of a request, by name. */
    checks: () => Readonly<Record<string, ReadinessCheck>>;
    /** True once the process is about to stop. It is then not ready (Decision 319). */
    isLeaving?: (() => boolean) | undefined;
  },
): void {
  router.all('/healthz', ctx => answer(ctx, 200, { status: 'ok' }));
  /** Shared by concurrent requests, because a check may be a query and nothing limits these requests. */
  let checking: ReturnType<typeof checkOutcomes> | undefined;
  router.all('/readyz', async ctx => {
    if (isLeaving()) return answer(ctx, 503, { status: 'not ready', checks: LEAVING });
    checking ??= checkOutcomes(checks(), ctx.state.log).finally(() => {
      checking = undefined;
    });
    const outcomes = await checking;
    const isReady = Object.values(outcomes).every(({ ok }) => ok);
    answer(ctx, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks: outcomes });
  });
}

/** Runs checks and returns their outcomes by name. One that throws or takes longer than two seconds has failed. */
export async function checkOutcomes(
  checks: Readonly<Record<string, ReadinessCheck>>,
  log: () => Logger,
): Promise<Readonly<Record<string, Outcome>>> {
  const outcomes = Object.entries(checks).map(
    async ([name, check]): Promise<[string, Outcome]> => [name, await outcomeOf(name, check)],
  );
  return Object.fromEntries(await Promise.all(outcomes));

  async function outcomeOf(name: string, check: ReadinessCheck): Promise<Outcome> {
    try {
      return await inTime(Promise.try(check), CHECK_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof Late) return { ok: false, detail: error.message };
      log().warn({ err: error, check: name }, 'readiness check failed');
      return { ok: false, detail: 'failed' };
    }
  }
}

function answer(ctx: Context, status: number, body: object): void {
  ctx.state.isHealthCheck = true;
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = body;
}
