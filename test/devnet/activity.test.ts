import { readFileSync } from 'node:fs';
import { decodeErrorResult, isAddressEqual, isHex, parseAbi, parseEventLogs, zeroAddress } from 'viem';
import { describe, expect } from 'vitest';
import { isAnvil } from '../lab/chain-kind.ts';
import { TEST_END_TIME } from '../lab/devnet.ts';
import { test } from '../support/served-devnet.ts';
import { type ChainView, framesOf, type SeenTransaction } from './chain-view.ts';

const FOUR_DAYS_S = 4 * 24 * 60 * 60;
const ERRORS = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error LimitExceeded(address caller, uint256 requested, uint256 limit)',
  'error NotOwner(address caller)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);

let views: ChainView[];

test.beforeAll(({ views: shared }) => {
  views = shared;
});

describe.each([0, 1])('embedded chain %i', index => {
  test('has transactions of every type that its engine has', () => {
    const types = new Set(view(index).transactions.map(({ typeHex }) => typeHex));

    expect(types).toEqual(new Set(['0x0', '0x1', '0x2', ...(isAnvil ? ['0x3'] : []), '0x4']));
  });

  test.runIf(isAnvil)('has blobs', async () => {
    const { client } = view(index);
    const blob = await client.getTransaction({ hash: firstOf(index, '0x3').hash });

    expect(blob.blobVersionedHashes).toEqual([expect.stringMatching(/^0x01/)]);
  });

  test('has access lists and authorizations that are not empty', async () => {
    const { client, contract } = view(index);
    const [listed, delegating] = await Promise.all(
      ['0x1', '0x4'].map(type => client.getTransaction({ hash: firstOf(index, type).hash })),
    );

    expect(listed?.accessList).toEqual([
      { address: contract('US Dollar Sample').toLowerCase(), storageKeys: [expect.any(String)] },
    ]);
    const authority = delegating?.to ?? zeroAddress;
    expect(await client.getCode({ address: authority })).toBe(
      `0xef0100${contract('Payment Splitter').slice(2).toLowerCase()}`,
    );
  });

  test('fails in every intended way, and in no other', () => {
    const failed = view(index).transactions.filter(({ isSuccess }) => !isSuccess);

    expect(new Set(failed.map(reasonOf))).toEqual(
      new Set([
        'Error',
        'Panic 18',
        'LimitExceeded',
        'NotOwner',
        'ERC20InsufficientBalance',
        'no reason',
        'out of gas',
      ]),
    );
  });

  test('creates contracts directly, by CREATE and by CREATE2, and destroys one in the transaction that creates it', async () => {
    const { client, transactions } = view(index);
    const direct = transactions.filter(({ to }) => to === null);
    const frames = transactions.flatMap(({ trace }) => framesOf(trace).slice(1));
    const ephemeral = frames.find(({ type }) => type === 'SELFDESTRUCT');

    expect(direct.length).toBeGreaterThan(9);
    expect(direct.every(({ contractAddress }) => contractAddress !== null)).toBe(true);
    expect(new Set(frames.map(({ type }) => type))).toEqual(
      new Set(['CALL', 'STATICCALL', 'DELEGATECALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']),
    );
    expect(await client.getCode({ address: ephemeral?.from ?? zeroAddress })).toBeUndefined();
  });

  test('has internal payments that succeed, and one that fails within a successful transaction', () => {
    const { transactions, contract } = view(index);
    const inner = transactions
      .filter(
        ({ isSuccess, to }) => isSuccess && to !== null && isAddressEqual(to, contract('Payment Splitter')),
      )
      .flatMap(({ trace }) => framesOf(trace).slice(1));

    expect(inner.some(({ error, value }) => error === undefined && BigInt(value ?? 0) > 0n)).toBe(true);
    expect(
      inner.some(({ error, to }) => error !== undefined && to === contract('Faulty').toLowerCase()),
    ).toBe(true);
  });

  test('calls through the proxy and through the clone', () => {
    const { transactions, contract } = view(index);
    const treasury = contract('Treasury').toLowerCase();

    for (const name of ['Treasury Proxy', 'Treasury Clone']) {
      const called = transactions.filter(({ to }) => to === contract(name).toLowerCase());
      const delegated = called
        .flatMap(({ trace }) => framesOf(trace))
        .filter(({ type }) => type === 'DELEGATECALL');
      expect(new Set(delegated.map(({ to }) => to))).toEqual(new Set([treasury]));
    }
  });

  test('calls unknown selectors and writes notes to plain accounts', async () => {
    const { client, transactions, contract } = view(index);
    const known = parseAbi([
      'event UnknownCall(address indexed caller, bytes4 indexed selector, uint256 value)',
    ]);
    const unknown = parseEventLogs({ abi: known, logs: transactions.flatMap(({ logs }) => logs) });
    const notes = transactions.filter(
      ({ input, trace }) => input !== '0x' && trace.type === 'CALL' && !trace.calls,
    );
    const targets = new Set(notes.flatMap(({ to }) => (to === null ? [] : [to])));
    const codes = await Promise.all([...targets].map(address => client.getCode({ address })));

    expect(unknown.some(({ address }) => address === contract('Payment Splitter').toLowerCase())).toBe(true);
    expect(codes).toContain(undefined);
  });

  test('has empty blocks and a block of more than fifty transactions', () => {
    const sizes = view(index).blocks.map(({ transactions }) => transactions);

    expect(Math.min(...sizes)).toBe(0);
    expect(Math.max(...sizes)).toBeGreaterThan(50);
  });

  test('spans the four days before its end, with a block every twelve seconds except for four jumps', () => {
    const times = view(index).blocks.map(({ timestamp }) => Number(timestamp));
    const gaps = times.slice(1).map((time, position) => time - (times[position] ?? 0));
    const span = (times.at(-1) ?? 0) - (times[0] ?? 0);

    expect(times.at(-1)).toBe(TEST_END_TIME / 1000);
    expect(span).toBeLessThanOrEqual(FOUR_DAYS_S);
    expect(span).toBeGreaterThan(FOUR_DAYS_S - 60);
    expect(gaps.filter(gap => gap !== 12)).toHaveLength(4);
  });

  test('every listed contract has the code of its artifact, except for immutables', async () => {
    const { client, chain } = view(index);

    for (const { name, address, artifactName } of chain.contracts) {
      const code = await client.getCode({ address });
      expect(code, name).toBeDefined();
      if (artifactName !== null) expect(code?.length, name).toBe(deployedCode(artifactName).length);
    }
    expect(chain.contracts.filter(({ artifactName }) => artifactName === null)).toHaveLength(1);
  });
});

test('no two chains share a contract address or a transaction', () => {
  const addresses = views.flatMap(({ chain }) => chain.contracts.map(({ address }) => address));
  const hashes = views.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));

  expect(new Set(addresses).size).toBe(addresses.length);
  expect(new Set(hashes).size).toBe(hashes.length);
});

function view(index: number): ChainView {
  const found = views[index];
  if (found === undefined) throw new RangeError(`no chain ${index}`);
  return found;
}

function firstOf(index: number, type: string): SeenTransaction {
  const found = view(index).transactions.find(({ typeHex }) => typeHex === type);
  if (found === undefined) throw new RangeError(`no transaction of type ${type}`);
  return found;
}

function reasonOf({ trace: { output = '0x', error = '' } }: SeenTransaction): string {
  if (/out ?of ?gas/i.test(error)) return 'out of gas';
  if (output === '0x') return 'no reason';
  const { errorName, args } = decodeErrorResult({ abi: ERRORS, data: output });
  return errorName === 'Panic' ? `Panic ${args[0]}` : errorName;
}

function deployedCode(artifactName: string): string {
  const file = new URL(`../../generated/devnet/${artifactName}.json`, import.meta.url);
  const { deployedBytecode } = JSON.parse(readFileSync(file, 'utf8'));
  if (!isHex(deployedBytecode)) throw new Error(`${artifactName} has no deployed code`);
  return deployedBytecode;
}
