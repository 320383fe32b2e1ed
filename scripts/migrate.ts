/** `tollgate migrate` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('migrate', process.argv.slice(2));
