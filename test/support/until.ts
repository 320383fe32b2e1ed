import { setTimeout as delay } from 'node:timers/promises';

/** Longest wait, on a busy machine. */
export const PATIENCE_MS = 30_000;

/** Polls until a value is as required; after half a minute returns the last one. */
export async function until<Value>(
  look: () => Promise<Value>,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const value = await look();
    if (isRight(value) || Date.now() > deadline) return value;
    await delay(pauseMs);
  }
}
