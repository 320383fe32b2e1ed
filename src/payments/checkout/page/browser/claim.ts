import { api, type FollowedSession, pathOf } from './api.ts';

const RETRY_MS = 15_000;
const TIMEOUT_MS = 20_000;

/** The hash of a payment that the server does not know yet. */
let untold: string | null = null;
let triedAt = Number.NEGATIVE_INFINITY;

/**
 * Tells the server which transaction pays the session. The hash is kept before it is sent, so a broken connection loses
 * nothing: it is told again later and after a reload. Never rejects, because the payment was sent whatever happens here.
 */
export async function claim(session: FollowedSession, hash: string): Promise<void> {
  untold = hash;
  stored(storage => storage.setItem(keyOf(session), hash));
  triedAt = Number.NEGATIVE_INFINITY;
  await keepClaiming(session);
}

/** Tells an untold hash again, at most every 15 seconds, until the server has taken or refused it. Never rejects. */
export async function keepClaiming(session: FollowedSession): Promise<void> {
  const hash = untoldHash(session);
  if (hash === null || performance.now() - triedAt < RETRY_MS) return;
  triedAt = performance.now();
  try {
    const { data, response } = await api.POST('/api/v1/pay/sessions/{checkout_session_id}/claims', {
      params: { path: pathOf(session) },
      body: { tx_hash: hash },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok || response.status === 400 || response.status === 404) forget(session);
    if (data !== undefined) await session.learn(data);
  } catch {
    // The watcher finds the payment without us; the next round tries again.
  }
}

/** The hash of a payment that was sent from this page and is not known to the server; null for none. */
export function untoldHash(session: FollowedSession): string | null {
  return untold ?? stored(storage => storage.getItem(keyOf(session))) ?? null;
}

function forget(session: FollowedSession): void {
  untold = null;
  stored(storage => storage.removeItem(keyOf(session)));
}

/** Storage is an extra for reloads: where a browser blocks it, it is null or throws. */
function stored<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

function keyOf({ checkout }: FollowedSession): string {
  return `claim ${checkout.id}`;
}
