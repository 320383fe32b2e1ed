/** `tollgate keys` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('keys', process.argv.slice(2));
