import { apiClient } from '../api/client.ts';
import { readCommand, USAGE } from './command.ts';
import { happen } from './trigger-event.ts';

/**
 * Triggers a test event on a running payments server, through its API.
 * @throws UsageError, or Refused when the server or the receiver refuses
 */
export async function runTrigger(args: readonly string[]): Promise<void> {
  const command = readCommand(args);
  if (command === undefined) process.stdout.write(USAGE);
  else for (const line of await happen(apiClient(command), command)) process.stdout.write(`${line}\n`);
}
