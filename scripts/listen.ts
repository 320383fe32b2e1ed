/** `tollgate listen` in a checkout. */
import { runCommand } from '#command/run-command.ts';

await runCommand('listen', process.argv.slice(2));
