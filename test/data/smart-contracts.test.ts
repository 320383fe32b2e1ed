import { decodeAbiParameters, encodeAbiParameters, getAddress } from 'viem';
import { describe, expect } from 'vitest';
import { creationCode } from '../../src/devnet/activity/artifacts.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { type ChainView, framesOf } from '../devnet/chain-view.ts';
import { artifact } from '../indexer/support.ts';
import { list, record } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';

const STANDARD_FLAGS = { is_verified_via_eth_bytecode_db: false, can_be_visualized_via_visualizer: false };

let api: Client;
let chain: EmbeddedChain;
let view: ChainView;

test.beforeAll(({ api: sharedApi, chain: first, view: sharedView }) => {
  [api, chain, view] = [sharedApi, first, sharedView];
});

async function contractAt(address: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.get(`/explorer/smart-contracts/${address}`);
  expect(status).toBe(200);
  return record(body);
}

describe('a contract with known sources', () => {
  test('shows the node’s code and the input that created it', async () => {
    for (const { address, artifactName } of chain.contracts) {
      if (artifactName === null) continue;
      const creation = view.transactions
        .flatMap(({ trace }) => framesOf(trace))
        .find(({ type, to }) => type === 'CREATE' && to === address.toLowerCase());

      const contract = await contractAt(address);

      expect(contract).toMatchObject({
        ...STANDARD_FLAGS,
        is_verified: true,
        is_fully_verified: true,
        is_partially_verified: false,
        is_changed_bytecode: false,
        is_verified_via_registry: false,
        is_self_destructed: false,
        status: 'success',
        deployed_bytecode: await view.client.getCode({ address }),
        creation_bytecode: creation?.input,
      });
    }
  });

  test('shows its sources, the compiler and the compiler’s settings', async () => {
    const contract = await contractAt(view.contract('Community Token'));

    const { abi } = artifact('CommunityToken');
    expect(JSON.parse(String(contract.abi))).toEqual(abi);
    expect(contract).toMatchObject({
      name: 'CommunityToken',
      language: 'solidity',
      file_path: 'contracts/CommunityToken.sol',
      source_code: expect.stringContaining('contract CommunityToken'),
      compiler_version: expect.stringMatching(/^v0\.8\.\d+\+commit\.[0-9a-f]{8}$/),
      compiler_settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'prague' },
      optimization_enabled: true,
      optimizations_runs: 200,
      evm_version: 'prague',
      external_libraries: [],
    });
    const paths = list(contract.additional_sources).map(source => record(source).file_path);
    expect(paths).toContain('@openzeppelin/contracts/token/ERC20/ERC20.sol');
  });

  test('shows its constructor’s arguments, raw and decoded', async () => {
    const contract = await contractAt(view.contract('Community Token'));

    const types = [{ type: 'string' }, { type: 'string' }, { type: 'uint256' }] as const;
    const raw = encodeAbiParameters(types, ['Community Token', 'TOLL', 10n ** 27n]);
    expect(contract.constructor_args).toBe(raw);
    expect(contract.creation_bytecode).toBe(`${creationCode('CommunityToken')}${raw.slice(2)}`);
    expect(list(contract.decoded_constructor_args).map(entry => list(entry)[0])).toEqual(
      decodeAbiParameters(types, raw).map(String),
    );
    expect(list(contract.decoded_constructor_args)[2]).toEqual([
      (10n ** 27n).toString(),
      { name: expect.any(String), type: 'uint256', internalType: 'uint256' },
    ]);
  });

  test('without constructor arguments has none', async () => {
    const contract = await contractAt(view.contract('Payment Splitter'));

    expect(contract).not.toHaveProperty('constructor_args');
    expect(contract).not.toHaveProperty('decoded_constructor_args');
  });
});

describe('a proxy', () => {
  test('that is minimal names the implementation in its code', async () => {
    const contract = await contractAt(view.contract('Treasury Clone'));

    expect(contract.minimal_proxy_address_hash).toBe(getAddress(view.contract('Treasury')));
    expect(contract.is_verified).toBe(false);
  });

  test.each([['Treasury Clone'], ['Treasury Proxy']])(
    'such as the %s shows its implementation’s name everywhere',
    async name => {
      const address = view.contract(name).toLowerCase();
      const called = view.transactions.find(({ to, isSuccess }) => isSuccess && to === address);
      if (called === undefined) throw new Error(`nobody calls the ${name}`);

      const { body } = await api.get(`/explorer/transactions/${called.hash}`);

      expect(record(record(body).to)).toMatchObject({
        implementation_name: 'Treasury',
        is_contract: true,
        is_verified: name === 'Treasury Proxy',
      });
    },
  );

  test('is not reported for an ordinary contract', async () => {
    const contract = await contractAt(view.contract('Treasury'));

    expect(contract).not.toHaveProperty('minimal_proxy_address_hash');
  });
});

describe('a contract without known sources', () => {
  test('created by another contract has the code from the node’s trace, and flags', async () => {
    const box = createdBy('CREATE2');

    const contract = await contractAt(box.address);

    expect(contract).toEqual({
      ...STANDARD_FLAGS,
      is_verified: false,
      is_self_destructed: false,
      status: 'success',
      deployed_bytecode: await view.client.getCode({ address: box.address }),
      creation_bytecode: box.input,
    });
  });

  test('that self-destructed is marked as such and has no code', async () => {
    const ephemeral = view.transactions
      .flatMap(({ trace }) => framesOf(trace))
      .find(({ type }) => type === 'SELFDESTRUCT');
    if (ephemeral === undefined) throw new Error('nothing destroys itself');

    const contract = await contractAt(ephemeral.from);

    expect(contract).toMatchObject({
      is_self_destructed: true,
      status: 'selfdestructed',
      is_verified: false,
    });
    expect(contract).not.toHaveProperty('deployed_bytecode');
    expect(String(contract.creation_bytecode)).toMatch(new RegExp(`^${creationCode('Ephemeral')}`));
  });
});

describe('an address that is not a contract', () => {
  test('is a 404', async () => {
    const [transaction] = view.transactions;

    const { status } = await api.get(`/explorer/smart-contracts/${transaction?.from}`);
    const nobody = await api.get(`/explorer/smart-contracts/0x${'11'.repeat(20)}`);

    expect(status).toBe(404);
    expect(nobody.status).toBe(404);
  });

  test('is a 404 even with delegated code by EIP-7702', async () => {
    const accounts = await Promise.all(
      [...new Set(view.transactions.map(({ to }) => to))].flatMap(address =>
        address === null ? [] : [view.client.getCode({ address }).then(code => ({ address, code }))],
      ),
    );
    const delegated = accounts.find(({ code }) => code?.startsWith('0xef0100'));
    if (delegated === undefined) throw new Error('no account has another’s code');

    const { status } = await api.get(`/explorer/smart-contracts/${delegated.address}`);

    expect(status).toBe(404);
  });
});

/** The first contract that another contract created in this way. */
function createdBy(type: string) {
  for (const { trace } of view.transactions) {
    const frame = framesOf(trace).find(one => one.type === type && one.error === undefined);
    if (frame?.to !== undefined) return { address: frame.to, input: frame.input };
  }
  throw new Error(`nothing is created by ${type}`);
}
