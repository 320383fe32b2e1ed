import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

/**
 * Longest wait of a test for anything. Just below the limit of the test itself, so that a slow machine fails no test
 * before that limit, and the message is still that of the wait.
 */
export const PATIENCE_MS = 110_000;

/**
 * Polls until a value is as required.
 * @throws Error with the last value when patience ends
 */
export async function until<Value>(
  look: () => Promise<Value>,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const value = await look();
    if (isRight(value)) return value;
    if (Date.now() > deadline) {
      throw new Error(`not so within ${PATIENCE_MS / 1_000} s: ${inspect(value).slice(0, 1_000)}`);
    }
    await delay(pauseMs);
  }
}
