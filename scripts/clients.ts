/**
 * Generates clients from the descriptions of two running services and tests them against the services:
 *   npm run clients                                                   starts the embedded default
 *   TOLLGATE_KEY=... npm run clients -- --data URL --payments URL
 * The descriptions and their variants must pass Redocly's strict rules. The generators are openapi-typescript, for
 * openapi-fetch, and hey-api, with their default settings. The generated code and the programs in
 * `scripts/clients/programs` must compile under `strict`. Each program pages through a list, creates a payment link and
 * reads errors. The TypeScript samples of the documentation variant must compile too, and those that name no record of
 * the payments platform must get a 200. Exits with 1 when any check fails.
 */
import { parseArgs } from 'node:util';
import { startEmbeddedServices } from './clients/embedded-services.ts';
import { clientWorkspace } from './clients/workspace.ts';

const { values } = parseArgs({
  options: { data: { type: 'string' }, payments: { type: 'string' } },
});
const { data, payments } = values;
// Every user of the machine can read the arguments of a process.
const key = process.env.TOLLGATE_KEY || undefined;
const isStarted = data === undefined && payments === undefined;
if (!isStarted && (data === undefined || payments === undefined || key === undefined)) {
  console.error('usage: [TOLLGATE_KEY=...] npm run clients [-- --data URL --payments URL]');
  process.exitCode = 2;
} else {
  await using resources = new AsyncDisposableStack();
  const services =
    data === undefined || payments === undefined || key === undefined
      ? resources.use(await startEmbeddedServices())
      : { data, payments, key };
  const workspace = resources.use(await clientWorkspace(services));
  try {
    await workspace.lint();
    await workspace.generate();
    await workspace.compile();
    for (const program of ['openapi-fetch', 'hey-api', 'samples']) console.log(await workspace.run(program));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
