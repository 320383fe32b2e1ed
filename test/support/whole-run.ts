import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    isWholeRun: boolean;
  }
}

/** True with `--mode all`, as in `npm run test:all`: every version of a back end. */
export const isWholeRun = inject('isWholeRun');
