const AGAIN_MS = 15_000;

let triedAt = Number.NEGATIVE_INFINITY;

/**
 * Tells the server which transaction pays the session. The hash is kept before it is sent, so that a closed tab or a
 * broken connection loses nothing: it is told again on the next visit.
 */
export async function claim(session, hash) {
  sessionStorage.setItem(keyOf(session), hash);
  triedAt = Number.NEGATIVE_INFINITY;
  await keepClaiming(session);
}

/** Tells a hash that is still to be told, now and then until the server has taken or refused it. */
export async function keepClaiming(session) {
  const key = keyOf(session);
  const hash = sessionStorage.getItem(key);
  if (hash === null || performance.now() - triedAt < AGAIN_MS) return;
  triedAt = performance.now();
  try {
    const answer = await fetch(`${session.path}/claims`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tx_hash: hash }),
    });
    if (answer.ok || answer.status === 400 || answer.status === 404) sessionStorage.removeItem(key);
    if (answer.ok) await session.learn(await answer.text());
  } catch {
    // The watcher finds the payment without us; the next round tries again.
  }
}

function keyOf({ checkout }) {
  return `claim ${checkout.id}`;
}
