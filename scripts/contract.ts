/**
 * Holds a running data service against our contracts:
 *   npm run contract -- --url http://127.0.0.1:3000 [--key KEY] [--har FILE] [--all]
 * Exits with 1 when anything it answers is not what the contract says; with `--all` also when an operation never answers
 * anything but empty lists, which is named either way: a chain may have no withdrawals or no prices.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { explorerContract } from '../src/contract/explorer.ts';
import { insightsContract } from '../src/contract/insights.ts';
import { recordingClient } from './contract/client.ts';
import { harOf } from './contract/har.ts';
import { runContracts } from './contract/run.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    key: { type: 'string' },
    har: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
if (values.url === undefined) {
  console.error('usage: npm run contract -- --url URL [--key KEY] [--har FILE] [--all]');
  process.exitCode = 2;
} else {
  const client = recordingClient({ baseUrl: values.url, key: values.key });
  const { filled, findings } = await runContracts([explorerContract, insightsContract], client);
  await client.close();
  const notSeen = [...filled].flatMap(([id, count]) => (count === 0 ? [id] : []));
  for (const finding of findings) console.log(finding);
  for (const id of notSeen) console.log(`${id}: not seen: every answer was empty`);
  const counts = [...filled.values()];
  console.log(
    `${filled.size} operations, ${client.exchanges.length} requests, ${findings.length} findings; ` +
      `answers with something in them: ${Math.min(...counts)} to ${Math.max(...counts)} an operation`,
  );
  if (values.har !== undefined) await writeFile(values.har, JSON.stringify(harOf(client.exchanges), null, 2));
  if (findings.length > 0 || (values.all && notSeen.length > 0)) process.exitCode = 1;
}
