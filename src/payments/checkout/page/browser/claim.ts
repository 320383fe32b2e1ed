import { type FollowedSession, pathOf, payerApi } from './api.ts';

const RETRY_MS = 15_000;
const TIMEOUT_MS = 20_000;

/** Hash of a payment that the server does not know yet. */
let untold: string | null = null;
let triedAt = Number.NEGATIVE_INFINITY;

/**
 * Tells the server which transaction pays the session. The hash is stored before it is sent, so it is sent again after
 * a failed connection or a reload. Never rejects, because the payment was sent in any case.
 */
export async function claim(session: FollowedSession, hash: string): Promise<void> {
  untold = hash;
  stored(storage => storage.setItem(keyOf(session), hash));
  triedAt = Number.NEGATIVE_INFINITY;
  await keepClaiming(session);
}

/**
 * Sends an unclaimed hash again, at most every 15 seconds, until the server has accepted or refused it. Never rejects.
 */
export async function keepClaiming(session: FollowedSession): Promise<void> {
  const hash = untoldHash(session);
  if (hash === null || performance.now() - triedAt < RETRY_MS) return;
  triedAt = performance.now();
  try {
    const { data, response } = await payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/claims', {
      params: { path: pathOf(session) },
      body: { tx_hash: hash },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok || response.status === 400 || response.status === 404) forget(session);
    if (data !== undefined) await session.learn(data);
  } catch {
    // The watcher finds the payment without a claim. The next round tries again.
  }
}

/** Hash of a payment that was sent from this page and that the server does not know yet; null for none. */
export function untoldHash(session: FollowedSession): string | null {
  return untold ?? stored(storage => storage.getItem(keyOf(session))) ?? null;
}

function forget(session: FollowedSession): void {
  untold = null;
  stored(storage => storage.removeItem(keyOf(session)));
}

/** Uses the storage, which only serves reloads. It is null or throws when the browser blocks it. */
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
