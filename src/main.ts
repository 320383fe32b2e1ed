/**
 * Entry of the process. Node keeps what it has compiled of our files beside the packages, for the next start; where that
 * folder cannot be written, it compiles them each time. The cache holds only for modules that are loaded later.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate'));
const { runProgram } = await import('./program.ts');
await runProgram();
