import { type Address, keccak256, numberToHex, parseEther, toHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { coinTokensOf } from '#deposits/coin-tokens.ts';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { SWEPT } from '#deposits/sweep-call.ts';
import { sweepsIn } from '#deposits/swept-logs.ts';
import { silentLogger } from '#lib/logger.ts';
import { type ChainClient, createChainClient } from '#node/client.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { type DepositChain, newAccount, newForwarder, startDepositChain } from './deposit-chain.ts';

const COINS = parseEther('1');
const ours = (address: string) =>
  async function* () {
    yield [address.toLowerCase()];
  };
const refusal = Object.assign(new Error('query returned more than 10000 results'), { code: -32_005 });

describe.each(CHAIN_KINDS)('sweeps on $engine with the rules of $hardfork', kind => {
  let chain: DepositChain;
  let node: FaultyNode;
  let client: ChainClient;
  beforeAll(async () => {
    chain = await startDepositChain(kind);
    node = await faultyNode(chain.rpcUrl);
    client = createChainClient({ id: 31_337, rpcUrls: [node.url], timeoutMs: 5_000, log: silentLogger() });
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await chain.stop();
  });
  beforeEach(() => node.tell(undefined));

  const pay = (to: Address, value = COINS) => chain.transact({ to, value });
  const none = async function* () {};
  const read = (from: number, to: number, forwarders: () => AsyncIterable<readonly string[]> = none) =>
    sweepsIn({ raw: client.request, forwarders }, { from, to });

  test('are read with the amounts that left, coins and tokens', async () => {
    const one = newForwarder(newAccount());
    const token = await chain.deploy('HostileToken');
    await chain.callContract('HostileToken', token, 'mint', [one.address, 1_000n]);
    await pay(one.address);
    const before = await chain.head();

    await chain.sweep([one.holding(null), one.holding(token)]);
    const sweeps = await read(before + 1, before + 1);

    const address = one.address.toLowerCase();
    expect(sweeps).toMatchObject([
      { blockNumber: before + 1, address, tokenAddress: zeroAddress, amount: COINS },
      { blockNumber: before + 1, address, tokenAddress: token.toLowerCase(), amount: 1_000n },
    ]);
    expect(new Set(sweeps.map(({ txHash }) => txHash)).size).toBe(1);
    expect(await read(before - 1, before)).toEqual([]);
  });

  test('are not what a stranger’s contract logs, or a recipient refuses', async () => {
    const imitator = await chain.deploy('Imitator');
    const refusing = await chain.deploy('OddRecipient');
    await chain.callContract('OddRecipient', refusing, 'behave', [1, zeroAddress, 0n, '0x']);
    const refused = newForwarder(refusing);
    const other = newForwarder(newAccount());
    await pay(refused.address);
    const before = await chain.head();

    await chain.callContract('Imitator', imitator, 'imitate', [other.address, zeroAddress, COINS]);
    await chain.sweep([refused.holding(null)]);

    expect(await read(before, await chain.head())).toEqual([]);
  });

  test('are read in halves where a node refuses more blocks', async () => {
    const one = newForwarder(newAccount());
    const before = await chain.head();
    for (let count = 0; count < 3; count++) {
      await pay(one.address, 1n + BigInt(count));
      await chain.sweep([one.holding(null)]);
    }
    const blocksOf = (filter: unknown) =>
      Number(Object(filter).toBlock) - Number(Object(filter).fromBlock) + 1;
    node.tell(({ method, params = [] }) =>
      method === 'eth_getLogs' && blocksOf(params[0]) > 2 ? refusal : undefined,
    );

    const sweeps = await read(before + 1, await chain.head());
    node.tell(({ method }) => (/^eth_get(Logs|TransactionReceipt)$/.test(method) ? refusal : undefined));

    expect(sweeps.map(({ amount }) => amount)).toEqual([1n, 2n, 3n]);
    await expect(read(before + 1, await chain.head(), ours(one.address))).rejects.toThrow('more than 10000');
  });

  test('are read by their forwarders, or by receipts, where a node refuses a single block', async () => {
    const [one, other] = [newForwarder(newAccount()), newForwarder(newAccount())];
    await pay(one.address, 5n);
    await pay(other.address, 7n);
    await chain.sweep([one.holding(null), other.holding(null)]);
    const block = await chain.head();
    const topicsOf = (filter: unknown): unknown[] => Object(filter).topics;
    const outcomes = [];

    for (const isWhole of [true, false]) {
      node.tell(({ method, params = [] }) =>
        method === 'eth_getLogs' && topicsOf(params[0]).length < (isWhole ? 2 : 3) ? refusal : undefined,
      );
      outcomes.push(await read(block, block, ours(one.address)));
    }

    expect(outcomes.map(some => some.map(({ amount }) => amount))).toEqual([[5n], [5n, 7n]]);
    expect(outcomes[1]?.[0]).toEqual(outcomes[0]?.[0]);
  });

  test('are none of other logs that a node sends', async () => {
    const one = newForwarder(newAccount());
    const address = one.address.toLowerCase();
    const word = (value: string) => `0x${value.slice(2).padStart(64, '0')}`;
    const log = {
      address: CURRENT_FACTORY.address,
      topics: [SWEPT, word(address), word(zeroAddress)],
      data: numberToHex(5n, { size: 32 }),
      blockNumber: '0x1',
      blockHash: keccak256('0x01'),
      transactionHash: keccak256('0x02'),
      transactionIndex: '0x0',
      logIndex: '0x0',
      removed: false,
    };
    node.tell(({ method }) =>
      method === 'eth_getLogs'
        ? [
            log,
            { ...log, address: newAccount() },
            { ...log, removed: true },
            { ...log, blockNumber: '0x3' },
            { ...log, blockHash: null },
            { ...log, data: '0x05' },
            { ...log, logIndex: 'first' },
            { ...log, transactionHash: 7 },
            { address: CURRENT_FACTORY.address, topics: 'none' },
            null,
            { ...log, topics: [SWEPT, word(address)] },
            { ...log, topics: [SWEPT, toHex(1n, { size: 32 }).replace('0x00', '0x01'), word(zeroAddress)] },
            { ...log, topics: [keccak256('0x05'), word(address), word(zeroAddress)] },
          ]
        : undefined,
    );

    expect(await read(1, 2)).toMatchObject([{ address, amount: 5n, logIndex: 0 }]);
  });
});

test('a token with the balances of coins takes coins', () => {
  expect(coinTokensOf(1)).toEqual([zeroAddress]);
  expect(coinTokensOf(42_220)).toEqual([zeroAddress, '0x471ece3750da237f93b8e339c536989b8978a438']);
});
