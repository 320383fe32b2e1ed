import { erc20Abi, getAddress, type Hex, hexToBigInt, toEventSelector } from 'viem';
import { describe, expect } from 'vitest';
import { addressIn, type Log, only, type Transaction, type Transfer, test, walk } from './values-support.ts';

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const SINGLE = toEventSelector('TransferSingle(address,address,address,uint256,uint256)');

describe('logs and token transfers', () => {
  test('every log of every transaction matches the node’s', async ({ seen: chain, explorer }) => {
    let decoded = 0;
    for (const { logs, transactionHash, to } of chain.receipts) {
      const { items } = await explorer.page<Log>(`/explorer/transactions/${transactionHash}/logs`);
      expect(items.map(({ index, data, topics }) => ({ index, data, topics }))).toEqual(
        logs.slice(0, 50).map(({ logIndex, data, topics }) => ({ index: logIndex, data, topics })),
      );
      for (const [at, log] of items.entries()) {
        expect(log.address.hash).toBe(getAddress(logs[at]?.address ?? '0x'));
        expect(log.smart_contract?.hash ?? null).toBe(to === null ? null : getAddress(to));
        if (log.topics[0] !== TRANSFER || log.decoded === null) continue;
        expect(log.decoded.method_call).toMatch(
          /^Transfer\(address indexed from, address indexed to, uint256 /,
        );
        expect(log.decoded.method_id).toBe(TRANSFER.slice(2, 10));
        const [from, to_, amount] = log.decoded.parameters.map(({ value }) => value);
        expect([from, to_].map(one => one?.toLowerCase())).toEqual(log.topics.slice(1, 3).map(asAddress));
        expect(amount).toBe(hexToBigInt(asHex(log.topics[3] ?? log.data)).toString());
        decoded += 1;
      }
    }
    expect(decoded).toBeGreaterThan(30);
  });

  test('amounts and ids of transfers match the raw logs', async ({ seen: chain, explorer }) => {
    const standards = new Set<string>();
    for (const { transactionHash, logs } of chain.receipts.filter(one => one.logs.length > 0)) {
      const { items } = await explorer.page<Transfer>(
        `/explorer/transactions/${transactionHash}/token-transfers`,
      );
      for (const { log_index, from, to, total, token_type, token, type } of items) {
        const log = only(logs.filter(({ logIndex }) => logIndex === log_index));
        const at = log.topics.length === 4 && log.topics[0] !== TRANSFER ? 2 : 1;
        expect(token?.address).toBe(getAddress(log.address));
        expect(from.hash.toLowerCase()).toBe(addressIn(log.topics[at]));
        expect(to.hash.toLowerCase()).toBe(addressIn(log.topics[at + 1]));
        expect(type).toBe(kindOf(from.hash, to.hash));
        if (token_type === 'ERC-20')
          expect(total).toEqual({ decimals: token?.decimals, value: hexToBigInt(log.data).toString() });
        if (token_type === 'ERC-721')
          expect(total).toEqual({ token_id: hexToBigInt(log.topics[3] ?? '0x').toString() });
        if (log.topics[0] === SINGLE)
          expect(total).toMatchObject({
            token_id: hexToBigInt(asHex(log.data.slice(0, 66))).toString(),
            value: hexToBigInt(asHex(`0x${log.data.slice(66)}`)).toString(),
          });
        standards.add(String(token_type));
      }
    }
    expect([...standards].sort()).toEqual(['ERC-1155', 'ERC-20', 'ERC-721']);
  });

  test('tokens have the name, symbol and decimals of their contracts', async ({ node, explorer }) => {
    const { items } = await explorer.page<Transfer>('/explorer/token-transfers');
    const fungible = only(items.filter(({ token_type }) => token_type === 'ERC-20'));
    const address = getAddress(String(fungible.token?.address));
    const read = (functionName: 'name' | 'symbol' | 'decimals' | 'totalSupply') =>
      node.viem.readContract({ address, abi: erc20Abi, functionName });

    const said = await Promise.all([read('name'), read('symbol'), read('decimals'), read('totalSupply')]);

    const { name, symbol, decimals, total_supply } = fungible.token ?? {};
    expect([name, symbol, decimals, total_supply]).toEqual([
      said[0],
      said[1],
      String(said[2]),
      String(said[3]),
    ]);
  });

  test('a transaction’s own record embeds up to ten transfers, and a flag for more', async ({
    seen: chain,
    explorer,
  }) => {
    for (const { hash } of chain.transactions.slice(-60)) {
      const { items } = await explorer.page<Transfer>(`/explorer/transactions/${hash}/token-transfers`);
      const record = await explorer.transaction(hash);

      expect(record.token_transfers?.map(({ log_index }) => log_index)).toEqual(
        items.slice(0, 10).map(({ log_index }) => log_index),
      );
      expect(record.token_transfers_overflow).toBe(items.length > 10);
    }
  });
});

test('every list of transactions embeds up to ten transfers of each, and a flag for more', async ({
  seen: chain,
  service,
  explorer,
}) => {
  const withMany = chain.receipts.toSorted((a, b) => b.logs.length - a.logs.length).slice(0, 3);
  const lists = await Promise.all([
    walk<Transaction>(service.url, '/explorer/transactions', 'cursor'),
    explorer.list<Transaction>('/explorer/main-page/transactions'),
    ...withMany.flatMap(({ blockNumber, from }) => [
      walk<Transaction>(service.url, `/explorer/blocks/${blockNumber}/transactions`, 'cursor'),
      walk<Transaction>(service.url, `/explorer/addresses/${from}/transactions`, 'cursor'),
    ]),
  ]);
  const lengths: number[] = [];

  for (const { transactionHash: hash } of [...withMany, ...chain.receipts.slice(-60)]) {
    const { items } = await explorer.page<Transfer>(`/explorer/transactions/${hash}/token-transfers`);
    const embedded = items.slice(0, 10).map(({ block_number, token_type, ...transfer }) => transfer);
    const listed = lists.flatMap(list => list.filter(one => one.hash === hash));

    expect(listed.length).toBeGreaterThan(0);
    for (const record of listed) {
      expect(record.token_transfers).toEqual(embedded);
      expect(record.token_transfers_overflow).toBe(items.length > 10);
    }
    lengths.push(items.length);
  }
  expect(Math.min(...lengths)).toBe(0);
  expect(Math.max(...lengths)).toBeGreaterThan(10);
});

const ZERO = /^0x0{40}$/;

function kindOf(from: string, to: string): string {
  if (ZERO.test(from)) return 'token_minting';
  return ZERO.test(to) ? 'token_burning' : 'token_transfer';
}

const asHex = (text: string): Hex => `0x${text.slice(2)}`;
const asAddress = (topic: string) => `0x${topic.slice(-40)}`;
