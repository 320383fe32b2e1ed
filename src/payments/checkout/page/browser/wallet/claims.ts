import { type FollowedSession, pathOf, payerApi } from '../api.ts';

const RETRY_MS = 15_000;
const TIMEOUT_MS = 20_000;

/** Tells the server which transaction pays a session. */
export interface Claims {
  /**
   * Sends the hash of a payment. It is stored before it is sent, so it is sent again after a failed connection or a
   * reload. Never rejects, because the payment was sent in any case.
   */
  claim(hash: string): Promise<void>;
  /**
   * Sends an unclaimed hash again, at most every 15 seconds, until the server has accepted or refused it. Never
   * rejects.
   */
  keepClaiming(): Promise<void>;
  /** True while the server does not know a payment that was sent from this page. */
  hasUnclaimed(): boolean;
}

/** Claims of the session that a page shows. */
export function claimsOf(session: FollowedSession): Claims {
  const key = `claim ${session.checkout.id}`;
  let hash = stored(storage => storage.getItem(key)) ?? null;
  let triedAt = Number.NEGATIVE_INFINITY;

  function forget(): void {
    hash = null;
    stored(storage => storage.removeItem(key));
  }

  async function keepClaiming(): Promise<void> {
    if (hash === null || performance.now() - triedAt < RETRY_MS) return;
    triedAt = performance.now();
    try {
      const { data, response } = await payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/claims', {
        params: { path: pathOf(session) },
        body: { tx_hash: hash },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.ok || response.status === 400 || response.status === 404) forget();
      if (data !== undefined) await session.learn(data);
    } catch {
      // The watcher finds the payment without a claim. The next round tries again.
    }
  }

  return {
    async claim(sent) {
      hash = sent;
      stored(storage => storage.setItem(key, sent));
      triedAt = Number.NEGATIVE_INFINITY;
      await keepClaiming();
    },
    keepClaiming,
    hasUnclaimed: () => hash !== null,
  };
}

/** Uses the storage, which only serves reloads. It is null or throws when the browser blocks it. */
function stored<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
