import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** True in `npm run test:all`. */
    runsAll: boolean;
  }
}

/**
 * The members of a long series that the current run covers: all in `npm run test:all`, only `some` in `npm test`.
 * Each member starts and kills processes, which takes most of the time of a run.
 */
export function membersOfRun<Member>(all: readonly Member[], some: readonly Member[]): readonly Member[] {
  const unknown = some.filter(member => !all.includes(member));
  if (unknown.length > 0) throw new Error(`not in the series: ${unknown.join(', ')}`);
  return inject('runsAll') ? all : some;
}
