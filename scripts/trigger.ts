/** `tollgate trigger` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('trigger', process.argv.slice(2));
