/** Entry point of the server: enables the compile cache before it loads any other module. */
import { join } from 'node:path';
import { keepCompiled } from './config/environment.ts';

keepCompiled(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate'));
const { runProgram } = await import('./program/program.ts');
await runProgram(process.argv.slice(2));
