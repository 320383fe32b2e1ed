import { type Address, erc20Abi, erc721Abi, numberToHex, parseAbi } from 'viem';
import { describe, expect } from 'vitest';
import type { ChainView } from '../devnet/chain-view.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { type Client, client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';
import { type Item, itemOf, walk } from '../support/walk.ts';

const ERC1155 = parseAbi(['function balanceOf(address account, uint256 id) view returns (uint256)']);

let api: Client;
let view: ChainView;

interface Told {
  blockNumber: bigint;
  changes: Item[];
}

/** State changes of every transaction, in the order of the chain. */
let all: Told[];

test.beforeAll(async ({ api: sharedApi, view: sharedView }) => {
  [api, view] = [sharedApi, sharedView];
  all = await Promise.all(
    view.transactions.map(async ({ hash }) => {
      const [{ items: changes }, { blockNumber }] = await Promise.all([
        walk(api, `/explorer/transactions/${hash}/state-changes`),
        view.client.getTransactionReceipt({ hash }),
      ]);
      return { blockNumber, changes };
    }),
  );
});

interface Balance {
  holder: Address;
  token: Address | null;
  tokenType: unknown;
  tokenId: bigint | null;
  before: bigint;
  after: bigint;
}

/** Balances of a change; undefined where they are unknown. */
function balanceOf(change: Item): Balance | undefined {
  const { balance_before: before, balance_after: after, token, token_id: tokenId } = change;
  if (before === null || after === null) return undefined;
  const record = token === null ? null : itemOf(token);
  return {
    holder: addressOf(itemOf(change.address).hash),
    token: record === null ? null : addressOf(record.address),
    tokenType: record?.type,
    tokenId: tokenId === null ? null : BigInt(String(tokenId)),
    before: BigInt(String(before)),
    after: BigInt(String(after)),
  };
}

function addressOf(value: unknown): Address {
  return `0x${String(value).slice(2)}`;
}

/** The node's value of the same balance at the end of a block. */
async function atNode({ holder, token, tokenType, tokenId }: Balance, blockNumber: bigint): Promise<bigint> {
  if (token === null) return view.client.getBalance({ address: holder, blockNumber });
  const code = await view.client.getCode({ address: token, blockNumber });
  if (code === undefined) return 0n;
  if (tokenType === 'ERC-1155')
    return view.client.readContract({
      address: token,
      abi: ERC1155,
      functionName: 'balanceOf',
      args: [holder, tokenId ?? 0n],
      blockNumber,
    });
  const abi = tokenType === 'ERC-721' ? erc721Abi : erc20Abi;
  return view.client.readContract({
    address: token,
    abi,
    functionName: 'balanceOf',
    args: [holder],
    blockNumber,
  });
}

describe('the state changes of a block’s transactions', () => {
  test('lead each balance from the node’s value before the block to its value after it', async () => {
    const blocks = Map.groupBy(all, ({ blockNumber }) => blockNumber);

    let checked = 0;
    for (const [blockNumber, told] of blocks) {
      const chains = Map.groupBy(
        told
          .flatMap(({ changes }) => changes)
          .map(change => {
            const balance = balanceOf(change);
            if (balance === undefined) throw new Error('a balance of the embedded chains is unknown');
            return balance;
          }),
        ({ holder, token, tokenId }) => `${holder} ${token} ${tokenId}`,
      );
      for (const steps of chains.values()) {
        const [first] = steps;
        const last = steps.at(-1);
        if (first === undefined || last === undefined) continue;
        const [before, after] = await Promise.all([
          atNode(first, blockNumber - 1n),
          atNode(last, blockNumber),
        ]);
        expect(first.before).toBe(before);
        expect(last.after).toBe(after);
        for (const [position, step] of steps.slice(1).entries())
          expect(step.before).toBe(steps[position]?.after);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(300);
  });

  test('mark only the miner', async () => {
    const { miner } = await view.client.getBlock();
    for (const change of all.flatMap(({ changes }) => changes)) {
      expect(change.is_miner).toBe(String(itemOf(change.address).hash).toLowerCase() === miner.toLowerCase());
    }
  });
});

describe('one state change', () => {
  const ofType = (type: string | null) =>
    all
      .flatMap(({ changes }) => changes)
      .filter(({ token }) => (token === null ? null : itemOf(token).type) === type);

  test.each([[null], ['ERC-20'], ['ERC-1155']])('of a %s balance is the difference between the two', type => {
    const changes = ofType(type);

    expect(changes.length).toBeGreaterThan(0);
    for (const { change, balance_before: before, balance_after: after } of changes) {
      expect(BigInt(String(change))).toBe(BigInt(String(after)) - BigInt(String(before)));
    }
  });

  test('of an ERC-721 balance names every NFT that came or went', () => {
    const changes = ofType('ERC-721');

    expect(changes.length).toBeGreaterThan(0);
    for (const { change, balance_before: before, balance_after: after, token_id: id } of changes) {
      if (!Array.isArray(change)) throw new Error('not a list of NFTs');
      const sum = change.map(itemOf).reduce((n, { direction }) => n + (direction === 'to' ? 1n : -1n), 0n);
      expect(sum).toBe(BigInt(String(after)) - BigInt(String(before)));
      expect(id).toBeNull();
    }
  });
});

test('balances that transfers do not explain are null, and the change is the transferred amount', async ({
  chain,
}) => {
  const RECENT = 100;
  let calls = 0n;
  // Each balance read differs, as if every token rebased continuously.
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) => {
      if (method !== 'eth_call') return result;
      calls += 1n;
      return numberToHex(calls * 10n ** 30n, { size: 32 });
    },
  });
  const other = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);
  try {
    let unknown = 0;
    for (const [position, { hash }] of view.transactions.slice(-RECENT).entries()) {
      const { items } = await walk(client(other.url), `/explorer/transactions/${hash}/state-changes`);
      for (const [place, { balance_before, balance_after, token, change }] of items.entries()) {
        if (balance_before !== null) continue;
        expect(balance_after).toBeNull();
        expect(token).not.toBeNull();
        expect(change).toEqual(all.slice(-RECENT)[position]?.changes[place]?.change);
        unknown += 1;
      }
    }
    expect(unknown).toBeGreaterThan(10);
  } finally {
    await other.close();
    await proxy.stop();
  }
});

test('an unknown transaction is a 404', async () => {
  const { status } = await api.get(`/explorer/transactions/0x${'11'.repeat(32)}/state-changes`);

  expect(status).toBe(404);
});

test('the item count is the position, and a position beyond the end is an empty page', async () => {
  const [transaction] = view.transactions;
  const [told] = all;

  const second = await api.get(`/explorer/transactions/${transaction?.hash}/state-changes?items_count=1`);
  const behind = await api.get(`/explorer/transactions/${transaction?.hash}/state-changes?items_count=999`);

  expect(itemOf(second.body).items).toEqual(told?.changes.slice(1));
  expect(behind.body).toEqual({ items: [], next_page_params: null });
});
