import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { erc20Abi, keccak256, toBytes } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { dataServiceOptions } from '../../src/data/from-config.ts';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { record } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';

const CHAIN_ID = 31_337;
const ADDRESS = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-abis-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(path: string, content: unknown): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Contracts that a chain gets from a configuration with this folder. */
async function configured(abis = 'abis') {
  const chain = {
    id: CHAIN_ID,
    name: 'Local',
    native: { symbol: 'ETH', decimals: 18 },
    rpc: ['http://127.0.0.1:1'],
    abis,
    backends: [{ kind: 'index', database: 'sqlite:./index.db' }],
  };
  const file = join(folder, 'tollgate.json');
  await writeFile(file, JSON.stringify({ chains: [chain] }));
  const config = loadConfig({ env: {}, argv: ['--config', file] });
  return dataServiceOptions(config, []).chains[0]?.abis ?? [];
}

/** Problems that stop the start, one sentence each. */
async function problems(abis?: string): Promise<string[]> {
  try {
    await configured(abis);
  } catch (error) {
    if (error instanceof ConfigError) return error.findings.map(({ path, message }) => `${path} ${message}`);
    throw error;
  }
  return [];
}

const SOURCE = 'contract Token { constructor(uint256 supply) {} }';
const LIBRARY = 'library Sums {}';

function metadata(changes: Record<string, unknown> = {}) {
  return {
    compiler: { version: '0.8.30+commit.73712a01' },
    language: 'Solidity',
    output: { abi: erc20Abi },
    settings: {
      compilationTarget: { 'src/Token.sol': 'Token' },
      evmVersion: 'prague',
      libraries: { 'src/Sums.sol': { Sums: ADDRESS.toLowerCase() } },
      optimizer: { enabled: false, runs: 800 },
    },
    sources: {
      'src/Token.sol': { keccak256: keccak256(toBytes(SOURCE)) },
      'src/Sums.sol': { keccak256: keccak256(toBytes(LIBRARY)), content: LIBRARY },
    },
    version: 1,
    ...changes,
  };
}

const AT = `abis/contracts/partial_match/${CHAIN_ID}/${ADDRESS}`;

describe('a folder of ABIs', () => {
  test('yields ABIs for any contract from arrays, and for one address from objects', async () => {
    await write('abis/Erc20.json', erc20Abi);
    await write('abis/tether.json', { abi: erc20Abi, address: ADDRESS, contractName: 'Tether' });
    await write('abis/notes.txt', 'not an ABI');

    const contracts = await configured();

    expect(contracts).toEqual([
      { name: 'Erc20', abi: erc20Abi },
      { name: 'Tether', abi: erc20Abi, address: ADDRESS },
    ]);
  });

  test('yields contracts in the registry’s layout with their sources, for this chain only', async () => {
    await write(`${AT}/metadata.json`, metadata());
    await write(`${AT}/sources/src/Token.sol`, SOURCE);
    await write(`${AT}/constructor-args.txt`, `0x${'00'.repeat(31)}2a`);
    await write(`abis/contracts/full_match/1/${ADDRESS}/metadata.json`, 'of another chain, never read');

    const [contract, ...others] = await configured();

    expect(others).toEqual([]);
    expect(contract).toMatchObject({
      address: ADDRESS.toLowerCase(),
      name: 'Token',
      abi: erc20Abi,
      source: {
        language: 'solidity',
        compilerVersion: 'v0.8.30+commit.73712a01',
        filePath: 'src/Token.sol',
        sourceCode: SOURCE,
        additionalSources: [{ path: 'src/Sums.sol', content: LIBRARY }],
        match: 'partial',
        isFromRegistry: true,
        constructorArgs: `0x${'00'.repeat(31)}2a`,
      },
    });
    expect(contract?.source?.settings).not.toHaveProperty('compilationTarget');
  });
});

describe('a folder that cannot be read stops the start with a message', () => {
  test('for a folder that does not exist', async () => {
    expect(await problems('nowhere')).toEqual(['chains[0].abis must be a folder that can be read']);
  });

  test('for every file that is not an ABI, not only the first', async () => {
    await write('abis/a.json', '{');
    await write('abis/b.json', { abi: [{ type: 'function' }] });
    await write('abis/c.json', [{ type: 'function', name: 'f', inputs: [{ name: 'x', type: 'tuple' }] }]);
    await write('abis/d.json', { abi: erc20Abi, address: '0x12' });
    await write('abis/e.json', erc20Abi);

    expect((await problems()).map(text => text.split(' ').slice(0, 4).join(' '))).toEqual([
      'chains[0].abis a.json: must be',
      'chains[0].abis b.json: must hold',
      'chains[0].abis c.json: must hold',
      'chains[0].abis d.json: address must',
    ]);
  });

  test.each([
    ['missing', undefined, metadata()],
    ['not the one that was compiled', 'contract Other {}', metadata()],
    ['a compilationTarget', SOURCE, metadata({ settings: { compilationTarget: {} } })],
    ['must lie under sources/', SOURCE, metadata({ sources: { '../../secret': {} } })],
    ['must be of Solidity, Vyper, Yul', SOURCE, metadata({ language: 'Fe' })],
  ])('which contains: %s', async (message, source, content) => {
    await write(`${AT}/metadata.json`, content);
    if (source !== undefined) await write(`${AT}/sources/src/Token.sol`, source);

    const found = await problems();

    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`partial_match/${CHAIN_ID}/${ADDRESS}: `);
    expect(found[0]).toContain(message);
  });
});

test('a contract in the registry’s layout is served with its sources, constructor and libraries', async () => {
  await using devnet = await startTestDevnet({ blocks: 25 });
  const [chain] = devnet.chains;
  const stable = chain?.contracts.find(({ name }) => name === 'US Dollar Sample');
  const [known] = knownContracts(stable === undefined ? [] : [stable]);
  if (chain === undefined || stable === undefined || known === undefined) throw new Error('no such contract');
  const encoded = `0x${'00'.repeat(31)}40${'00'.repeat(31)}80${'00'.repeat(31)}01${'41'.padEnd(64, '0')}${'00'.repeat(31)}01${'42'.padEnd(64, '0')}`;
  const at = AT.replace(ADDRESS, stable.address).replace('partial', 'full');
  await write(`${at}/metadata.json`, metadata({ output: { abi: known.abi } }));
  await write(`${at}/sources/src/Token.sol`, SOURCE);
  await write(`${at}/constructor-args.txt`, encoded);
  const abis = await configured();
  await using service = await startTestDataService([{ ...chain, contracts: [] }], {
    chains: [
      {
        id: chain.id,
        name: chain.name,
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [chain.rpcUrl],
        abis,
        backends: [{ kind: 'index', database: { file: join(folder, 'index.db') }, fromBlock: 0, pollMs: 50 }],
      },
    ],
  });
  const api: Client = client(service.url);

  const { body } = await api.get(`/explorer/smart-contracts/${stable.address}`);

  expect(record(body)).toMatchObject({
    name: 'Token',
    is_verified: true,
    is_fully_verified: true,
    is_verified_via_registry: true,
    optimization_enabled: false,
    optimizations_runs: 800,
    source_code: SOURCE,
    additional_sources: [{ file_path: 'src/Sums.sol', source_code: LIBRARY }],
    external_libraries: [{ name: 'Sums', address_hash: ADDRESS }],
    constructor_args: encoded,
    decoded_constructor_args: [
      ['A', { name: expect.any(String), type: 'string', internalType: 'string' }],
      ['B', { name: expect.any(String), type: 'string', internalType: 'string' }],
    ],
  });
  expect(record(body)).not.toHaveProperty('is_changed_bytecode');
});
