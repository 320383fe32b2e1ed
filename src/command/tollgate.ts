/** Entry point of the program `tollgate`: enables the compile cache before it loads any other module. */
import { join } from 'node:path';
import { keepCompiled } from '#config/environment.ts';

keepCompiled(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'tollgate'));
const { runProgramCommand } = await import('./run-command.ts');
await runProgramCommand(process.argv.slice(2));
