import { spawnSync } from 'node:child_process';
import { getAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { ALIASES, readKnownChains, readPaymentTerms } from '../../src/command/chains/find-chain.ts';
import type { Variables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { refusal } from './refusal.ts';
import { writeConfig } from './write-config.ts';

const known = readKnownChains();

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/chains.ts', ...args], {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  return { status, stdout, stderr };
}

function chainsOf(text: string, env: Variables = {}) {
  return loadConfig({ file: writeConfig(text), env }).chains;
}

describe('npm run chains', () => {
  test('names of chains give a valid configuration in the order of the names', () => {
    const { status, stdout, stderr } = run('ethereum', 'BASE', 'optimism');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(chainsOf(stdout)).toMatchObject([
      {
        id: 1,
        name: 'Ethereum',
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        testnet: false,
        backends: [
          { kind: 'blockscout', url: 'https://api.blockscout.com/1/api/v2', apiKey: undefined },
          { kind: 'blockscout', url: 'https://eth.blockscout.com/api/v2', apiKey: undefined },
        ],
      },
      { id: 8453, name: 'Base' },
      { id: 10, name: 'OP Mainnet' },
    ]);
  });

  test('every known chain can be named by its id, and loads as it is in the table', () => {
    const { status, stdout } = run(...known.map(({ id }) => String(id)));

    expect(status).toBe(0);
    expect(
      chainsOf(stdout).map(({ id, name, native, testnet, backends }) => ({
        ...{ id, name, testnet, symbol: native.symbol },
        url: backends.flatMap(one => (one.kind === 'blockscout' ? [one.url] : [])).at(-1),
      })),
    ).toEqual(known.map(({ gateway: _, ...chain }) => chain));
  });

  test('a chain after --payments has nodes and USDC, and the others have neither', () => {
    const { status, stdout, stderr } = run('optimism', '--payments', 'base', '--payments', 'sepolia');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(chainsOf(stdout)).toMatchObject([
      { id: 10, rpc: [], tokens: [] },
      {
        id: 8453,
        rpc: ['https://mainnet.base.org', 'https://base-rpc.publicnode.com'],
        tokens: [{ address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', symbol: 'USDC', decimals: 6 }],
        testnet: false,
      },
      { id: 11_155_111, testnet: true },
    ]);
  });

  test('every chain for which payments are known loads, and its token is written with its checksum', () => {
    const terms = readPaymentTerms();
    const { stdout } = run(...[...terms.keys()].flatMap(id => ['--payments', String(id)]));

    expect(
      chainsOf(stdout).map(({ id, rpc, tokens }) => [id, rpc, tokens.map(({ address }) => address)]),
    ).toEqual([...terms].map(([id, { nodes, usdc }]) => [id, nodes, [usdc]]));
    for (const { usdc } of terms.values()) expect(getAddress(usdc.toLowerCase())).toBe(usdc);
  });

  test('a test network that is not named as one is pointed out', () => {
    const { status, stdout, stderr } = run('zora');

    expect(chainsOf(stdout)).toMatchObject([{ testnet: true }]);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^"zora" is taken for .+ \(\d+\), a test network\.\n$/),
    });
  });

  test('a closed output pipe ends the list without an error', () => {
    const pipe = `"${process.execPath}" scripts/chains.ts --list | head -n 1`;

    const { stdout, stderr } = spawnSync('bash', ['-c', pipe], { encoding: 'utf8', timeout: PATIENCE_MS });

    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
  });

  test('a chain is found by alias, with hyphens, without "Mainnet" and by a unique prefix', () => {
    const { stdout } = run('sepolia', 'base-sepolia', 'b3', 'arbitrum', 'soneium min');

    expect(chainsOf(stdout).map(({ id, testnet }) => [id, testnet])).toEqual([
      [11_155_111, true],
      [84_532, true],
      [8333, false],
      [42_161, false],
      [1946, true],
    ]);
  });

  test('the gateway comes first where it replaces an instance, and no other operator receives BLOCKSCOUT_KEY', () => {
    const { stdout } = run(...known.map(({ id }) => String(id)));
    const backends = chainsOf(stdout, { BLOCKSCOUT_KEY: 'k' }).flatMap(chain => chain.backends);
    const told = backends.flatMap(one => (one.kind === 'blockscout' && one.apiKey === 'k' ? [one.url] : []));

    expect(told).toContain('https://gnosis.blockscout.com/api/v2');
    const own = known.filter(({ url }) => /^https:\/\/[^/]+\.blockscout\.com\//.test(url));
    expect(told).toEqual(
      own.flatMap(({ id, url, gateway }) => [
        ...(gateway ? [`https://api.blockscout.com/${id}/api/v2`] : []),
        url,
      ]),
    );
  });

  test('--pro uses the gateway, requires the key and marks chains the gateway may lack', () => {
    const { stdout } = run('--pro', 'base', 'polygon');

    expect(chainsOf(stdout, { BLOCKSCOUT_PRO_KEY: 'proapi_1' }).map(({ backends }) => backends)).toEqual([
      [{ kind: 'blockscout', url: 'https://api.blockscout.com/8453/api/v2', apiKey: 'proapi_1' }],
      [{ kind: 'blockscout', url: 'https://api.blockscout.com/137/api/v2', apiKey: 'proapi_1' }],
    ]);
    expect(refusal(() => chainsOf(stdout)).message).toContain('BLOCKSCOUT_PRO_KEY');
    expect(stdout.match(/# The gateway was not documented .*\n.*/g)).toEqual([
      expect.stringContaining('/137/api/v2'),
    ]);
  });

  test.each([
    { given: ['base', 'etherum'], said: 'no known chain is called "etherum"; did you mean Ethereum (1)?' },
    { given: ['4'], said: 'no known chain has the id 4' },
    { given: ['--payments', 'gnosis'], said: 'no node and token of Gnosis are known' },
    { given: ['base', '--payments', 'base'], said: 'Base (8453) is named twice' },
    { given: ['scrol'], said: '"scrol" may be any of: Scroll Testnet (534351), Scroll (534352)' },
    { given: ['morph'], said: '"morph" may be any of: Morph (2810), Morph (2818)' },
    { given: ['ethereum', '1'], said: 'Ethereum (1) is named twice' },
    { given: ['-'], said: '"-" is not a name' },
    { given: ['--prod', 'base'], said: "Unknown option '--prod'; did you mean --pro?" },
    { given: [], said: 'name at least one chain' },
    { given: ['--list', 'no such chain'], said: 'no known chain has "no such chain"' },
  ])('$given exits with 2, and prints no configuration', ({ given, said }) => {
    const { status, stdout, stderr } = run(...given);

    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(said);
  });

  test('--list shows the chains that match a text, or all of them', () => {
    expect(run('--list', 'SCROLL').stdout).toBe(
      '534351  Scroll Testnet [testnet]  ETH  https://scroll-sepolia.blockscout.com/api/v2\n' +
        '534352  Scroll  ETH  https://scroll.blockscout.com/api/v2\n',
    );
    expect(run('--list').stdout.trimEnd().split('\n')).toHaveLength(known.length);
  });

  test('--help explains the command', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--pro') });
  });
});

describe('the table of known chains', () => {
  test('it is sorted by id, and no id and no address occurs twice', () => {
    const ids = known.map(({ id }) => id);

    expect(ids.length).toBeGreaterThan(500);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(new Set(known.map(({ url }) => url.toLowerCase())).size).toBe(known.length);
  });

  test('every address is an https one of a Blockscout API', () => {
    expect(known.filter(({ url }) => !/^https:\/\/[a-z0-9.-]+(\/[\w-]+)*\/api\/v2$/.test(url))).toEqual([]);
  });

  test('every alias leads to a known chain and is no chain’s full name', () => {
    const ids = new Set(known.map(({ id }) => id));
    const names = new Set(known.map(({ name }) => name.toLowerCase()));

    expect([...ALIASES].filter(([alias, id]) => !ids.has(id) || names.has(alias))).toEqual([]);
  });
});
