import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { type EmbeddedPayments, paymentsServiceOptions } from '../../src/payments/from-config.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { writeConfig } from '../config/write-config.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const DATA = 'https://data.example.com';
const EMBEDDED: EmbeddedPayments = {
  chains: [
    {
      id: 31_337,
      name: 'Embedded chain A',
      rpcUrl: 'http://127.0.0.1:8545',
      tokens: [{ address: `0x${'Ab'.repeat(20)}`, symbol: 'USDS', decimals: 6 }],
    },
  ],
  folder: '/run/of/now',
  merchant: `0x${'Cd'.repeat(20)}`,
};
const CHAINS = `
chains:
  - id: 1
    name: Ethereum
    native: { symbol: ETH, decimals: 18 }
    rpc: ["http://127.0.0.1:9"]
    confirmations: 12
    tokens: [{ address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", symbol: USDC, decimals: 6 }]
    backends: [{ kind: blockscout, url: "https://eth.blockscout.com/api/v2" }]
  - id: 84532
    name: Base Sepolia
    native: { symbol: ETH, decimals: 18 }
    rpc: ["http://127.0.0.1:9"]
    confirmations: 3
    testnet: true
  - id: 10
    name: No node
    native: { symbol: ETH, decimals: 18 }
    confirmations: 3
    backends: [{ kind: blockscout, url: "https://optimism.blockscout.com/api/v2" }]
`;

function optionsOf(text: string, at: { embedded?: EmbeddedPayments; dataUrl?: string } = {}) {
  const config = loadConfig({ file: writeConfig(text), env: {} });
  return paymentsServiceOptions(config, { embedded: at.embedded, dataUrl: at.dataUrl });
}

test('chains with a node accept their coin and tokens, as live or test money', () => {
  const { chains, demo } = optionsOf(CHAINS);

  expect(chains.map(({ id, mode, confirmations }) => [id, mode, confirmations])).toEqual([
    [1, 'live', 12],
    [84_532, 'test', 3],
  ]);
  expect(chains[0]?.tokens).toEqual([
    { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
    { address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', symbol: 'USDC', decimals: 6 },
  ]);
  expect(demo).toBeUndefined();
});

test('deposit addresses are on for test networks and off for others, unless accepted within limits', () => {
  const rulesOf = (text: string) => optionsOf(text).chains.map(one => one.depositAddresses);
  const rpc = 'rpc: ["http://127.0.0.1:9"]';
  const accepted = 'depositAddresses: { acceptUnaudited: true, maxUnswept: { USDC: "10000.5" } }';

  expect(rulesOf(CHAINS)).toEqual([undefined, {}]);
  expect(rulesOf(CHAINS.replace('testnet: true', 'testnet: true\n    depositAddresses: false'))).toEqual([
    undefined,
    undefined,
  ]);
  expect(rulesOf(CHAINS.replace(rpc, `${rpc}\n    ${accepted}`))).toEqual([
    { maxUnswept: new Map([['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 10_000_500_000n]]) },
    {},
  ]);
  expect(optionsOf('{}', { embedded: EMBEDDED }).chains[0]?.depositAddresses).toEqual({});
});

test('a transaction links to its Blockscout, else to the data service, else to nothing', () => {
  const shown = (dataUrl?: string) =>
    optionsOf(CHAINS, dataUrl === undefined ? {} : { dataUrl }).chains.map(({ explorerUrl }) =>
      explorerUrl?.(HASH),
    );

  const blockscout = `https://eth.blockscout.com/tx/${HASH}`;
  expect(shown()).toEqual([blockscout, undefined]);
  expect(shown(DATA)).toEqual([blockscout, `${DATA}/chain/84532/tx/${HASH}`]);
});

test('a process without the data service links to the configured data.publicUrl', () => {
  const { chains } = optionsOf(`data: { publicUrl: "${DATA}/" }\n${CHAINS}`);

  expect(chains[1]?.explorerUrl?.(HASH)).toBe(`${DATA}/chain/84532/tx/${HASH}`);
});

test('with pages disabled a transaction links to the API', () => {
  const { chains } = optionsOf(`${CHAINS}\ndata: { pages: false }`, { dataUrl: DATA });

  expect(chains[1]?.explorerUrl?.(HASH)).toBe(`${DATA}/explorer/transactions/${HASH}?chain_id=84532`);
});

test('embedded chains alone use the folder of the run and a demo that pays the merchant', () => {
  const { chains, demo, database, secretKey, outgoing } = optionsOf('{}', { embedded: EMBEDDED });

  const token = { address: `0x${'ab'.repeat(20)}`, symbol: 'USDS', decimals: 6 };
  expect(chains).toMatchObject([{ id: 31_337, mode: 'test', confirmations: 1, isOfThisRun: true }]);
  expect(chains[0]?.tokens).toEqual([{ address: NATIVE_COIN, symbol: 'ETH', decimals: 18 }, token]);
  expect(demo).toEqual({
    chainId: 31_337,
    tokenAddress: token.address,
    recipientAddress: `0x${'cd'.repeat(20)}`,
  });
  expect(database).toEqual({ file: join(EMBEDDED.folder, 'payments.db') });
  expect(secretKey).toEqual({ kind: 'file', file: join(EMBEDDED.folder, 'payments.key') });
  expect(outgoing.mailFolder).toBe(join(EMBEDDED.folder, 'mail'));
});

test('a configured database is used even with embedded chains', () => {
  const url = 'postgres://localhost/pay';

  const { database, secretKey } = optionsOf(`payments: { database: "${url}", secretKeyFile: /keys/a }`, {
    embedded: EMBEDDED,
  });

  expect([database, secretKey]).toEqual([
    { kind: 'postgres', url, poolSize: 10, statementTimeoutMs: 30_000, lockTimeoutMs: 10_000 },
    { kind: 'file', file: '/keys/a' },
  ]);
});

test('certificate files of a database are read into its options', () => {
  const { database } = optionsOf(
    `payments: { database: "postgres://db/pay", postgres: { pool: 4, listenUrl: "postgres://past/pay", tls: { ca: "${import.meta.filename}" } } }`,
    { embedded: EMBEDDED },
  );

  expect(database).toMatchObject({
    poolSize: 4,
    listenUrl: 'postgres://past/pay',
    tls: { ca: readFileSync(import.meta.filename, 'utf8') },
  });
});

test('embedded chains next to others accept payments, but the database is not in their folder', () => {
  const { chains, demo, database } = optionsOf(CHAINS, { embedded: EMBEDDED });

  expect(chains.map(({ id }) => id)).toEqual([1, 84_532, 31_337]);
  expect(demo).toBeUndefined();
  expect(JSON.stringify(database)).not.toContain(EMBEDDED.folder);
});
