import { type Address, isAddressEqual, type Log, parseAbi, parseEventLogs, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestDevnet, type TestDevnet } from '../support/devnet.ts';
import { type ChainView, viewChain } from './chain-view.ts';

const FUNGIBLE = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
]);
const POSTCARDS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
]);
const ITEMS = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
let devnet: TestDevnet;
let views: ChainView[];

beforeAll(async () => {
  devnet = await startTestDevnet({ chains: 2 });
  views = await Promise.all(devnet.chains.map(viewChain));
});

afterAll(() => devnet.stop());

describe.each([0, 1])('tokens of embedded chain %i', index => {
  test('mints, transfers, burns and approves fungible tokens', () => {
    for (const name of ['US Dollar Sample', 'Community Token']) {
      const events = parseEventLogs({ abi: FUNGIBLE, logs: logsOf(index, name) });
      const transfers = events.flatMap(event => (event.eventName === 'Transfer' ? [event.args] : []));

      expect(movesOf(transfers)).toEqual({ mint: true, transfer: true, burn: true });
    }
    const approvals = parseEventLogs({ abi: FUNGIBLE, logs: logsOf(index, 'US Dollar Sample') });
    expect(approvals.some(({ eventName }) => eventName === 'Approval')).toBe(true);
  });

  test('mints, transfers, burns and approves postcards', () => {
    const events = parseEventLogs({ abi: POSTCARDS, logs: logsOf(index, 'Postcards') });
    const transfers = events.flatMap(event => (event.eventName === 'Transfer' ? [event.args] : []));

    expect(movesOf(transfers)).toEqual({ mint: true, transfer: true, burn: true });
    expect(events.some(({ eventName }) => eventName.startsWith('Approval'))).toBe(true);
  });

  test('moves items one by one and in batches, and burns them on the first chain only', () => {
    const events = parseEventLogs({ abi: ITEMS, logs: logsOf(index, 'Game Items') });
    const ofKind = (kind: string) =>
      events.filter(({ eventName }) => eventName === kind).map(({ args }) => args);

    expect(movesOf(ofKind('TransferSingle'))).toEqual({ mint: true, transfer: true, burn: index === 0 });
    expect(movesOf(ofKind('TransferBatch'))).toEqual({ mint: true, transfer: true, burn: false });
  });

  test('has transactions with more than ten token transfers, as many logs and as one batch', () => {
    const perTransaction = view(index).transactions.map(({ logs }) => ({
      fungible: parseEventLogs({ abi: FUNGIBLE, eventName: 'Transfer', logs }).length,
      batched: parseEventLogs({ abi: ITEMS, eventName: 'TransferBatch', logs }).flatMap(
        ({ args }) => args.ids,
      ).length,
    }));

    expect(Math.max(...perTransaction.map(({ fungible }) => fungible))).toBeGreaterThan(10);
    expect(Math.max(...perTransaction.map(({ batched }) => batched))).toBeGreaterThan(10);
  });

  test('tokens describe themselves: names, decimals, metadata with pictures', async () => {
    const { client, contract } = view(index);
    const abi = parseAbi([
      'function symbol() view returns (string)',
      'function decimals() view returns (uint8)',
      'function tokenURI(uint256) view returns (string)',
      'function uri(uint256) view returns (string)',
      'function nextTokenId() view returns (uint256)',
    ]);
    const token = { abi, address: contract('US Dollar Sample') } as const;
    const items = { abi, address: contract('Game Items') } as const;

    expect(await client.readContract({ ...token, functionName: 'symbol' })).toBe('USDS');
    expect(await client.readContract({ ...token, functionName: 'decimals' })).toBe(6);
    expect(metadata(await client.readContract({ ...items, functionName: 'uri', args: [3n] }))).toEqual({
      name: 'Item 3',
      description: expect.any(String),
      image: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
      attributes: [{ trait_type: 'Kind', value: '3' }],
    });
    const minted = parseEventLogs({
      abi: POSTCARDS,
      eventName: 'Transfer',
      logs: logsOf(index, 'Postcards'),
    });
    const burnt = minted.filter(({ args }) => args.to === zeroAddress).map(({ args }) => args.tokenId);
    const alive = minted.map(({ args }) => args.tokenId).find(id => !burnt.includes(id)) ?? 0n;
    const postcards = { abi, address: contract('Postcards') } as const;
    const uri = await client.readContract({ ...postcards, functionName: 'tokenURI', args: [alive] });
    expect(metadata(uri)).toMatchObject({
      name: `Postcard #${alive}`,
      attributes: [{ trait_type: 'Palette' }, {}],
    });
  });
});

function view(index: number): ChainView {
  const found = views[index];
  if (found === undefined) throw new RangeError(`no chain ${index}`);
  return found;
}

function logsOf(index: number, name: string): Log[] {
  const { transactions, contract } = view(index);
  return transactions
    .flatMap(({ logs }) => logs)
    .filter(({ address }) => isAddressEqual(address, contract(name)));
}

function movesOf(transfers: { from?: Address; to?: Address }[]): Record<string, boolean> {
  return {
    mint: transfers.some(({ from }) => from === zeroAddress),
    transfer: transfers.some(({ from, to }) => from !== zeroAddress && to !== zeroAddress),
    burn: transfers.some(({ to }) => to === zeroAddress),
  };
}

function metadata(uri: string): unknown {
  const [prefix, encoded = ''] = uri.split(',');
  expect(prefix).toBe('data:application/json;base64');
  return JSON.parse(Buffer.from(encoded, 'base64').toString());
}
