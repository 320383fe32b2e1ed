import { setTimeout as delay } from 'node:timers/promises';

/** Polls until a value is as required; after ten seconds returns the last one. */
export async function until<Value>(
  look: () => Promise<Value>,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + 10_000;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const value = await look();
    if (isRight(value) || Date.now() > deadline) return value;
    await delay(pauseMs);
  }
}
