/**
 * Makes a test event on a running payments server, through its API:
 *   npm run -s trigger -- payment.completed --key KEY
 * Exits with 2 when the command is not understood, and with 1 when the server or the receiver refuses.
 */
import { apiClient } from '../src/command/api/client.ts';
import { readCommand, USAGE } from '../src/command/trigger/command.ts';
import { happen, Refused } from '../src/command/trigger/trigger-event.ts';

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if ('help' in command) process.stdout.write(USAGE);
  else if ('fault' in command) refuse(`${command.fault}\n\n${USAGE}`, 2);
  else for (const line of await happen(apiClient(command), command)) process.stdout.write(`${line}\n`);
}

function refuse(message: string, code: number): void {
  process.stderr.write(message);
  process.exitCode = code;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  refuse(`${error.message}\n`, 1);
}
