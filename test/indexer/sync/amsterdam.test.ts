import { type Address, encodeDeployData, type Hex, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainIndex } from '../../../src/indexer/index-service.ts';
import { eachDatabase } from '../../support/databases.ts';
import { continuedOnAmsterdam } from '../amsterdam-chain.ts';
import { startNodeProxy } from '../node-proxy.ts';
import { artifact, clientOf, openTestIndex, startTestChain, type TestChain } from '../support.ts';

const SYSTEM: Address = '0xfffffffffffffffffffffffffffffffffffffffe';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const PAYEES: readonly Address[] = [payee(1), payee(2), payee(3)];
/** Contract whose log has the form of a log of coins: a transfer of 1 from the first payee to the second. */
const FORGER: Hex = `0x6001600052${[PAYEES[1], PAYEES[0]].map(party => `73${party?.slice(2)}`).join('')}7f${TRANSFER}60206000a300`;
const TRACING = [
  'trace_block',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
];

let chain: TestChain;
/** The first block of the fork. */
let fork: number;
let head: number;

beforeAll(async () => {
  const before = await startTestChain({ engine: 'edr' });
  const { call } = await before.deploy('PaymentSplitter', []);
  await before.rpc.call('hardhat_setCode', SYSTEM, FORGER);
  await before.send(1, { to: SYSTEM });
  await before.mine();
  await before.send(2, { ...call('split', [PAYEES.slice(0, 2)]), value: 6n });
  await before.mine();
  chain = await continuedOnAmsterdam(before);
  fork = Number(await chain.rpc.call('eth_blockNumber')) + 1;
  await chain.send(1, { to: PAYEES[0] as Address, value: 5n });
  await chain.send(2, { ...call('split', [PAYEES]), value: 9n });
  await chain.mine();
  const { abi, bytecode } = artifact('Ephemeral');
  const self = chain.accounts.signer(3).address;
  await chain.send(3, { data: encodeDeployData({ abi, bytecode, args: [PAYEES[2]] }), value: 4n });
  await chain.send(3, { to: self, value: 3n });
  await chain.send(4, { ...call('split', [[]]), value: 2n });
  await chain.mine();
  head = Number(await chain.rpc.call('eth_blockNumber'));
});
afterAll(() => chain.stop());

eachDatabase('an index of a chain that crosses the fork Amsterdam', databases => {
  let traced: ChainIndex;
  let untraced: ChainIndex;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
    traced = await openTestIndex({
      database: await databases.create('index'),
      client: clientOf(chain.rpcUrl),
    });
    const client = clientOf(proxy.rpcUrl);
    untraced = await openTestIndex({ database: await databases.create('index'), client });
    await traced.runOnce();
    await untraced.runOnce();
    stop = async () => {
      await Promise.all([traced.stop(), untraced.stop()]);
      await proxy.stop();
    };
  });
  afterAll(() => stop());

  test('takes logs of coins for no tokens, and the same log before the fork for one', async () => {
    for (const { reader } of [traced, untraced]) {
      const { items } = await reader.tokenTransfers({ limit: 50 });
      const known = await reader.tokens([SYSTEM]);
      const { items: logs } = await reader.addressLogs({ address: SYSTEM, limit: 50 });

      expect(items.map(({ token, blockNumber }) => [token, blockNumber])).toEqual([[SYSTEM, fork - 2]]);
      expect(known).toHaveLength(1);
      const isOfFork = logs.map(({ blockNumber }) => blockNumber >= fork);
      expect(isOfFork).toEqual([...Array.from({ length: 7 }, () => true), false]);
    }
  });

  test('has the coins that moved inside its transactions, from logs or from traces', async () => {
    const ofTraces = await coinsMoved(traced);
    const ofLogs = await coinsMoved(untraced);

    expect(ofLogs.filter(({ blockNumber }) => blockNumber < fork)).toEqual([]);
    expect(ofLogs).toEqual(ofTraces.filter(({ blockNumber }) => blockNumber >= fork));
    expect(ofLogs).toHaveLength(4);
    expect(ofTraces).toHaveLength(6);
  });

  test('says of coins from logs neither the kind of the call nor its gas', async () => {
    const { items } = await untraced.reader.internalTransactions({ limit: 50 });

    for (const { type, gasLimit, gasUsed } of items)
      expect([type, gasLimit, gasUsed]).toEqual([null, null, null]);
  });

  test('has the balance of each account, and each block that changed it', async () => {
    const accounts = [...PAYEES, ...[1, 2, 3, 4].map(from => chain.accounts.signer(from).address)];
    for (const address of accounts.map(lowerCase)) {
      const balances = await Promise.all(
        Array.from({ length: head + 1 }, (_, block) =>
          chain.rpc.call('eth_getBalance', address, numberToHex(block)).then(String),
        ),
      );
      const changed = balances.flatMap((balance, block) => (balance === balances[block - 1] ? [] : [block]));
      for (const { reader } of [traced, untraced]) {
        expect(await reader.coinBalance(address)).toBe(BigInt(balances[head] ?? -1));
        const { moves } = await reader.coinMoves({ address, below: head + 1, limit: 50 });
        const first = reader === traced.reader ? 1 : fork;
        const blocks = moves.map(({ blockNumber }) => blockNumber);
        expect(blocks).toEqual(expect.arrayContaining(changed.filter(block => block >= first)));
      }
    }
  });

  test('knows the header of the fork', async () => {
    const { items } = await traced.reader.blocks({ kind: 'block', limit: 50 });

    expect(items.map(({ number, hasCoinLogs }) => [number >= fork, hasCoinLogs])).toEqual(
      items.map(({ number }) => [number >= fork, number >= fork]),
    );
  });
});

/** Coins that moved inside transactions, in the order of execution. */
async function coinsMoved({ reader }: ChainIndex) {
  const { items } = await reader.internalTransactions({ limit: 50 });
  return items
    .filter(({ value, error }) => value > 0n && error === null)
    .map(({ blockNumber, transactionHash, from, to, createdContract, value }) => ({
      blockNumber,
      transactionHash,
      from,
      to: to ?? createdContract,
      value,
    }))
    .toReversed();
}

function payee(number: number): Address {
  return `0x${number.toString(16).padStart(40, '9')}`;
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
