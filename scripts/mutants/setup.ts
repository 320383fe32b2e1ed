import { appendFileSync } from 'node:fs';
import { afterAll, expect, inject } from 'vitest';

/** Reports which mutations a test file reached, as lines of JSON. */
export interface ReachedLine {
  readonly file: string;
  readonly reached: readonly number[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Id of the mutant that is on; -1 for none. */
    mutant: number;
    /** File for `ReachedLine`s, which are written while no mutant is on. */
    reachedFile: string;
  }
}

const mutant = inject('mutant');
const reached = new Set<number>();

// A worker loads this file again for each test file.
Object.assign(globalThis, {
  mutants: {
    isOn(id: number): boolean {
      reached.add(id);
      return id === mutant;
    },
  },
});

if (mutant < 0) {
  afterAll(() => {
    const line: ReachedLine = { file: expect.getState().testPath ?? '', reached: [...reached] };
    appendFileSync(inject('reachedFile'), `${JSON.stringify(line)}\n`);
  });
}
