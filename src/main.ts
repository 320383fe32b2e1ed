/** Entry of the process: turns the compile cache on before anything is loaded that is worth keeping. */
import { join } from 'node:path';
import { keepCompiled } from './config/environment.ts';

keepCompiled(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate'));
const { runProgram } = await import('./program/program.ts');
await runProgram(process.argv.slice(2));
