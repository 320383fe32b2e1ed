/**
 * Creates and lists payment links of a running server, through its API:
 *   npm run -s links -- create --key KEY --name "Field notebooks" --amount 12500000
 * Exits with 2 when the command is not understood, and with 1 when the server refuses or is out of reach.
 */
import { type Answer, linksClient } from '../src/command/links/client.ts';
import { type Command, readCommand, USAGE } from '../src/command/links/command.ts';

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if ('help' in command) process.stdout.write(USAGE);
  else if ('fault' in command) refuse(`${command.fault}\n\n${USAGE}`, 2);
  else await run(command);
}

async function run(command: Command): Promise<void> {
  const client = linksClient(command);
  if (command.kind === 'create') {
    const created = await client.create(command.link);
    if (succeeded(created)) process.stdout.write(`${created.value}\n`);
    return;
  }
  for (let page = 1; ; page++) {
    const links = await client.list(page);
    if (!succeeded(links)) return;
    for (const line of links.value.lines) process.stdout.write(`${line}\n`);
    if (!links.value.hasMore) return;
  }
}

function succeeded<Value>(answer: Answer<Value>): answer is { value: Value } {
  if ('value' in answer) return true;
  refuse(`${answer.refusal}\n`, 1);
  return false;
}

function refuse(message: string, code: number): void {
  process.stderr.write(message);
  process.exitCode = code;
}

await main();
