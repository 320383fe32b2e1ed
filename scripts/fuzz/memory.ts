import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory of this process at the moments that were noted. */
export interface MemoryRecord {
  note(): void;
  /** Bytes on the heap, garbage collected. */
  readonly heap: readonly number[];
  /** Bytes of the whole process. */
  readonly resident: readonly number[];
}

export function memoryRecord(): MemoryRecord {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  const [heap, resident]: [number[], number[]] = [[], []];
  return {
    heap,
    resident,
    note() {
      if (typeof collectGarbage === 'function') collectGarbage();
      const { heapUsed, external, rss } = process.memoryUsage();
      heap.push(heapUsed + external);
      resident.push(rss);
    },
  };
}
