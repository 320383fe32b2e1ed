/**
 * Records the examples of the contracts: `npm run examples`, then `npm run generate`. Sends every operation's example
 * request to services over embedded chains of seed 1, whose last block has a fixed time. Writes the responses to
 * spec/<contract>/examples/. Repeated runs write the same files.
 */
import { startTestDevnet } from '../test/lab/devnet.ts';
import { recordData } from './examples/data-examples.ts';
import { recordPayments } from './examples/payments-examples.ts';
import { writeExamples } from './examples/recorded.ts';
import { seedRandomBytes } from './examples/seeded-random.ts';

seedRandomBytes();
await using devnet = await startTestDevnet({ chains: 2 });
const [chain] = devnet.chains;
if (chain === undefined) throw new Error('the devnet has no chain');
const data = await recordData(devnet);
const changed: string[] = [];
for (const [contract, examples] of [...data, ['payments', await recordPayments(chain)] as const]) {
  changed.push(...(await writeExamples(contract, examples)));
}
console.log(changed.length === 0 ? 'nothing changed' : changed.join('\n'));
