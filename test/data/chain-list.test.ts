import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { dataServiceOptions } from '#data/from-config.ts';
import { writeConfig } from '../config/write-config.ts';
import { startTestDataService } from '../lab/data-service.ts';

test.each([
  ['{ symbol: POL }', { symbol: 'POL', decimals: 18 }],
  [
    '{ symbol: GAS, decimals: 8, wrapped: "0x5FbDB2315678afecb367f032d93F642f64180aa3" }',
    { symbol: 'GAS', decimals: 8 },
  ],
])('the list of chains has the configured coin: %s', async (native, coin) => {
  const file = writeConfig(`
chains:
  - id: 5
    name: Five
    native: ${native}
    backends: [{ kind: blockscout, url: "http://127.0.0.1:9/api/v2" }]
`);
  const { chains } = dataServiceOptions(loadConfig({ file, env: {} }), []);
  await using service = await startTestDataService([], { chains });

  const response = await fetch(`${service.url}/chains`);

  expect(await response.json()).toMatchObject({ chains: [{ id: 5, name: 'Five', native: coin }] });
});
