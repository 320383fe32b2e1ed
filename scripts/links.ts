/** `tollgate links` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('links', process.argv.slice(2));
