import { Refused } from '#lib/command-line.ts';
import { type Answer, linksClient } from './client.ts';
import { readCommand, USAGE } from './command.ts';

/**
 * Creates and lists payment links of a running server, through its API.
 * @throws UsageError, or Refused when the server refuses or is out of reach
 */
export async function runLinks(args: readonly string[]): Promise<void> {
  const command = readCommand(args);
  if (command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const client = linksClient(command);
  if (command.kind === 'create') {
    process.stdout.write(`${contentOf(await client.create(command.link))}\n`);
    return;
  }
  for (let page = 1; ; page++) {
    const { lines, hasMore } = contentOf(await client.list(page));
    for (const line of lines) process.stdout.write(`${line}\n`);
    if (!hasMore) return;
  }
}

function contentOf<Value>(answer: Answer<Value>): Value {
  if ('value' in answer) return answer.value;
  throw new Refused(answer.refusal);
}
