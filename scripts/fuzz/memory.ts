import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory of this process, recorded by each `note`. */
export interface MemoryRecord {
  note(): void;
  /** Bytes on the heap after garbage collection. */
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
