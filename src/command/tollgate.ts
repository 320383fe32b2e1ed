/** Entry of the program `tollgate`: turns the compile cache on before anything is loaded that is worth keeping. */
import { join } from 'node:path';
import { keepCompiled } from '#config/environment.ts';

keepCompiled(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'tollgate'));
const { runProgramCommand } = await import('./run-command.ts');
await runProgramCommand(process.argv.slice(2));
