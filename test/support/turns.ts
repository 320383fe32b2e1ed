import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of this thread's event loop until `work` has ended. */
export async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let isOpen = true;
  const end = () => {
    isOpen = false;
  };
  work.then(end, end);
  let turns = 0;
  for (; isOpen; turns += 1) await nextTurn();
  return turns;
}
