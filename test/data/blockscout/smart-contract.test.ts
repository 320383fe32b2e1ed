import { describe, expect, test } from 'vitest';
import { smartContract } from '#data/backends/blockscout/normalise/smart-contract.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

function contractOf(name: string) {
  return smartContract(fixtureOf('getSmartContract', name).body);
}

describe('smart contract', () => {
  test.each(fixturesOf('getSmartContract'))('$name becomes the contract’s record', async ({ body }) => {
    expect(await validates('getSmartContract', smartContract(body))).toEqual([]);
  });

  test.each(['v6.9', 'v8', 'v11', 'v12'])('%s has the values of 5 and the status of the creation', name => {
    const { status, ...told } = contractOf(name);

    expect(told).toEqual(contractOf('v5'));
    expect(status).toBe(name === 'v6.9' ? undefined : 'success');
  });

  test('fields have the names and types of the contract', () => {
    expect(contractOf('v11')).toMatchObject({
      minimal_proxy_address_hash: contractOf('v5').minimal_proxy_address_hash,
      is_verified_via_registry: true,
      can_be_visualized_via_visualizer: true,
      optimizations_runs: 200,
      is_self_destructed: false,
      file_path: '',
      verified_at: '2023-05-12T18:21:35.123456Z',
    });
    expect(contractOf('v11').registry_repo_url).toMatch(/^https:/);
  });

  test('the ABI is a JSON string', () => {
    const abi: unknown = JSON.parse(contractOf('v11').abi ?? '');

    expect(abi).toMatchObject([{ type: 'constructor' }, { type: 'function', name: 'pour' }]);
  });

  test('decoded arguments are strings, arrays as a JSON string', () => {
    const [owner, steps] = contractOf('v11').decoded_constructor_args ?? [];

    expect(owner?.[1]).toEqual({ name: 'owner', type: 'address', internalType: 'address' });
    expect(steps).toEqual([
      '["1","90071992547409930000"]',
      { name: 'steps', type: 'uint256[]', internalType: 'uint256[]' },
    ]);
  });

  test('nested arguments that came as numbers and booleans become strings', () => {
    const { decoded_constructor_args: decoded } = smartContract({
      decoded_constructor_args: [
        [[1, [true, 90071992547409930000n]], { name: 'order', type: 'tuple' }],
        [null, null],
      ],
    });

    expect(decoded).toEqual([
      ['["1",["true","90071992547409930000"]]', { name: 'order', type: 'tuple' }],
      [null, {}],
    ]);
  });

  test('an unverified self-destructed contract has only its code, flag and status', () => {
    const gone = {
      creation_bytecode: '0x6080604052348015',
      is_self_destructed: true,
      status: 'selfdestructed',
    };

    expect([contractOf('v5-unverified'), contractOf('v8-unverified'), contractOf('v11-unverified')]).toEqual([
      gone,
      gone,
      gone,
    ]);
  });

  test('a null from upstream is absent', () => {
    const contract = contractOf('v11-zksync');

    for (const name of ['evm_version', 'compiler_settings', 'additional_sources', 'external_libraries']) {
      expect(contract).not.toHaveProperty(name);
    }
    expect(Object.values(contract)).not.toContain(null);
  });

  test('an optimiser mode is not a number of runs', () => {
    expect(contractOf('v11-zksync')).not.toHaveProperty('optimizations_runs');
    expect(contractOf('v11-arbitrum').optimizations_runs).toBe(3);
  });

  test('an unknown language, status or kind of proxy is absent', () => {
    expect(contractOf('v11-arbitrum')).not.toHaveProperty('language');
    expect(contractOf('v11-arbitrum')).not.toHaveProperty('status');
    expect(contractOf('v11-arbitrum')).not.toHaveProperty('is_self_destructed');
    expect(contractOf('v11-zksync')).not.toHaveProperty('minimal_proxy_address_hash');
  });

  test('a contract that old versions flag as Vyper has the language Vyper', () => {
    expect(smartContract({ is_vyper_contract: true }).language).toBe('vyper');
  });

  test('the newest name of a status is used, and decides about self-destruction', () => {
    expect(smartContract({ creation_status: 'failed', status: 'success', is_self_destructed: true })).toEqual(
      { status: 'failed', is_self_destructed: false },
    );
  });

  test('libraries without an address and sources without text are left out', () => {
    const contract = smartContract({
      external_libraries: [{ name: 'Leaf', address_hash: '0x12' }, null],
      additional_sources: [{ file_path: 'a.sol' }, { file_path: 'b.sol', source_code: '' }],
    });

    expect(contract).toEqual({
      external_libraries: [],
      additional_sources: [{ file_path: 'b.sol', source_code: '' }],
    });
  });

  test('a body that is not an object is unreadable', () => {
    expect(() => smartContract('Not found')).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: '' }),
    );
  });
});

test.each([
  ['c0ffee', '0xc0ffee'],
  ['0xc0ffee', '0xc0ffee'],
])('constructor arguments %s become hexadecimal with 0x', (given, expected) => {
  const { constructor_args: args } = smartContract({ constructor_args: given });

  expect(args).toBe(expected);
});
