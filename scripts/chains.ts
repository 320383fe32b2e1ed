/** `tollgate chains` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('chains', process.argv.slice(2));
