/**
 * Checks a running service against our contracts:
 *   npm run contract
 *   npm run contract -- --url http://127.0.0.1:3000 [--har FILE] [--all]
 *   TOLLGATE_KEY=... npm run contract -- --url http://127.0.0.1:3001 [--har FILE] [--all]
 * Without an address it starts both services itself, over both databases and over emulated Blockscout and Insight
 * services, and tests them one after the other. With an address, the service's description tells whether it is data or
 * payments.
 * The key for payments needs every permission. The run creates records in the key's mode and removes them at the end as
 * far as possible. It changes the notification settings of that mode during the run, so a test key is preferable.
 * Exits with 1 when a response violates the contract. Operations that returned only empty lists are reported, because a
 * chain may have no withdrawals or no prices. With `--all` they lead to exit code 1 too.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { dataServiceContract } from '../src/contract/contracts/data-service.ts';
import { explorerContract } from '../src/contract/contracts/explorer.ts';
import { insightsContract } from '../src/contract/contracts/insights.ts';
import { recordingClient } from './contract/client.ts';
import { runOverAllGrounds } from './contract/grounds.ts';
import { harOf } from './contract/har.ts';
import { runPayments } from './contract/payments/run.ts';
import { isPaymentsService } from './contract/payments/served-by.ts';
import { type ContractReport, runContracts } from './contract/run.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    har: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
const { url } = values;
// Every user of the machine can read the arguments of a process.
const key = process.env.TOLLGATE_KEY || undefined;
if (url === undefined) {
  for await (const { ground, ...report } of runOverAllGrounds()) {
    console.log(ground);
    tell(report);
  }
} else {
  const asker = recordingClient({ baseUrl: url });
  const isPayments = await isPaymentsService(asker);
  await asker.close();
  if (isPayments && key === undefined) misused('The payments platform needs an API key: set TOLLGATE_KEY');
  else await run(url, isPayments ? key : undefined);
}

function misused(text: string): void {
  console.error(text);
  process.exitCode = 2;
}

/** Tests the payments platform with its key, or else the data service. */
async function run(baseUrl: string, paymentsKey: string | undefined): Promise<void> {
  // Requests to the payments platform use several keys or none, so its client sends none by itself.
  const client = recordingClient({ baseUrl, key: paymentsKey === undefined ? key : undefined });
  const report =
    paymentsKey === undefined
      ? await runContracts([explorerContract, insightsContract, dataServiceContract], client)
      : await runPayments(client, paymentsKey);
  await client.close();
  tell({ ...report, requests: client.exchanges.length });
  if (values.har !== undefined) await writeFile(values.har, JSON.stringify(harOf(client.exchanges), null, 2));
}

/** Prints a report and sets the exit code. */
function tell({ filled, findings, requests }: ContractReport & { readonly requests: number }): void {
  const notSeen = [...filled].flatMap(([id, count]) => (count === 0 ? [id] : []));
  for (const finding of findings) console.log(finding);
  for (const id of notSeen) console.log(`${id}: not seen: every response was empty`);
  const counts = [...filled.values()];
  console.log(
    `${filled.size} operations, ${requests} requests, ${findings.length} findings; ` +
      `responses with content: ${Math.min(...counts)} to ${Math.max(...counts)} per operation`,
  );
  if (findings.length > 0 || (values.all && notSeen.length > 0)) process.exitCode = 1;
}
