import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseSlots } from '#lib/json-text/parse-thread.ts';

/** Longer than the texts after which a thread ends at once. */
const LONG = new TextEncoder().encode(`["${'a'.repeat(17 * 2 ** 20)}"]`);

test('a text that comes while the thread of the last one ends is parsed', async () => {
  using slot = await parseSlots(1).take(new AbortController().signal);
  for (let count = 0; count < 3; count += 1) {
    await slot.parse(LONG.slice());
    // The thread is told to end, and needs a moment for it.
    await delay(2);

    expect(await slot.parse(new TextEncoder().encode('[1]'))).toEqual([1]);
  }
});
