const SPAN_S = 4 * 24 * 60 * 60;
const BLOCK_S = 12;
const JUMPS = 4;

/**
 * Times of the genesis block and of each block after it, in seconds, the last at or before `endTime` (ms).
 * Twelve seconds apart, with four jumps of about a day, so that a short chain still has a history of days.
 */
export function blockTimes({ blocks, endTime }: { blocks: number; endTime: number }): number[] {
  const jump = Math.max(0, Math.floor((SPAN_S - blocks * BLOCK_S) / JUMPS));
  const fromStart = Array.from({ length: blocks + 1 }, (_, number) => {
    const jumpsSoFar = Math.floor((number * (JUMPS + 1)) / (blocks + 1));
    return number * BLOCK_S + jumpsSoFar * jump;
  });
  const start = Math.floor(endTime / 1000) - (fromStart.at(-1) ?? 0);
  return fromStart.map(offset => start + offset);
}
