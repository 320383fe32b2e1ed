/**
 * Holds a running service against our contracts:
 *   npm run contract -- --url http://127.0.0.1:3000 [--key KEY] [--har FILE]
 * Exits with 1 when anything it answers is not what the contract says.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { explorerContract } from '../src/contract/explorer.ts';
import { recordingClient } from './contract/client.ts';
import { harOf } from './contract/har.ts';
import { runContract } from './contract/run.ts';

const { values } = parseArgs({
  options: { url: { type: 'string' }, key: { type: 'string' }, har: { type: 'string' } },
});
if (values.url === undefined) {
  console.error('usage: npm run contract -- --url URL [--key KEY] [--har FILE]');
  process.exitCode = 2;
} else {
  const client = recordingClient({ baseUrl: values.url, key: values.key });
  const { operations, findings } = await runContract(explorerContract, client);
  await client.close();
  for (const finding of findings) console.log(finding);
  console.log(`${operations} operations, ${client.exchanges.length} requests, ${findings.length} findings`);
  if (values.har !== undefined) await writeFile(values.har, JSON.stringify(harOf(client.exchanges), null, 2));
  if (findings.length > 0) process.exitCode = 1;
}
