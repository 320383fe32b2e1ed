import { randomBytes } from 'node:crypto';
import { type Address, type Hex, parseEther, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/data/backends/port/cursor.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import {
  type Block,
  everything,
  explorerAt,
  type Log,
  type Node,
  nodeOf,
  type Transaction,
  type Transfer,
  type Walk,
  walk,
} from './values-support.ts';

const WALKS: readonly Walk[] = ['cursor', 'keys', 'everything'];
const accounts = deriveAccounts();
let devnet: TestDevnet;
let service: TestDataService;
let node: Node;
let chain: Awaited<ReturnType<typeof everything>>;

beforeAll(async () => {
  devnet = await startTestDevnet();
  service = await startTestDataService(devnet.chains);
  const [first] = devnet.chains;
  if (first === undefined) throw new Error('there is no chain');
  node = nodeOf(first);
  chain = await everything(node);
});
afterAll(async () => {
  await service.close();
  await devnet.stop();
});

const placeOf = (transfer: Transfer) => `${transfer.transaction_hash} ${transfer.log_index}`;
const mine = async () => {
  await node.rpc.call('anvil_mine', '0x1');
};
const oldestFirst = () => chain.transactions.toReversed();

describe.each(WALKS)('a walk that sends back %s', how => {
  test('visits every transaction once, newest first', async () => {
    const found = await walk<Transaction>(service.url, '/explorer/transactions', how);

    expect(found.map(({ hash }) => hash)).toEqual(oldestFirst().map(({ hash }) => hash));
  });

  test('visits every block once, highest first', async () => {
    const found = await walk<Block>(service.url, '/explorer/blocks', how);

    expect(found.map(({ hash }) => hash)).toEqual(chain.blocks.toReversed().map(({ hash }) => hash));
  });

  test('visits every transaction of a block with more than one page', async () => {
    const [big] = chain.blocks.filter(({ transactions }) => transactions.length > 50);
    const found = await walk<Transaction>(service.url, `/explorer/blocks/${big?.number}/transactions`, how);

    expect(found.map(({ hash }) => hash)).toEqual(big?.transactions.toReversed().map(({ hash }) => hash));
  });

  test('visits every token transfer once, and finds the same as the transactions’ lists', async () => {
    const found = await walk<Transfer>(service.url, '/explorer/token-transfers', how);
    const byTransaction: Transfer[] = [];
    for (const { hash } of chain.transactions)
      byTransaction.push(
        ...(await walk<Transfer>(service.url, `/explorer/transactions/${hash}/token-transfers`, how)),
      );

    expect(found.map(placeOf)).toEqual(byTransaction.toReversed().map(placeOf));
    expect(found.length).toBeGreaterThan(100);
  });

  test('visits every log of every transaction once, in order', async () => {
    for (const { transactionHash, logs } of chain.receipts) {
      const found = await walk<Log>(service.url, `/explorer/transactions/${transactionHash}/logs`, how);
      expect(found.map(({ index }) => index)).toEqual(logs.map(({ logIndex }) => logIndex));
    }
  });
});

describe('filters', () => {
  test.each(['token_transfer', 'contract_creation', 'contract_call', 'token_creation', 'coin_transfer'])(
    'of the kind %s select exactly the matching transactions',
    async kind => {
      const all = await walk<Transaction>(service.url, '/explorer/transactions', 'cursor');
      const found = await walk<Transaction>(service.url, `/explorer/transactions?type=${kind}`, 'cursor');

      expect(found.map(({ hash }) => hash)).toEqual(
        all.filter(one => one.transaction_types.some(type => type === kind)).map(({ hash }) => hash),
      );
      expect(found.length).toBeGreaterThan(0);
    },
  );

  test('of the kind contract_call select calls to code that existed at their block', async () => {
    const found = await walk<Transaction>(service.url, '/explorer/transactions?type=contract_call', 'cursor');
    const called = await Promise.all(
      oldestFirst().map(async ({ hash, to, blockNumber }) => {
        const code = to === null ? undefined : await node.viem.getCode({ address: to, blockNumber });
        return code === undefined ? [] : [hash];
      }),
    );

    expect(found.map(({ hash }) => hash)).toEqual(called.flat());
  });

  test('by method name and by selector select the same calls, and combine with others', async () => {
    const hashes = async (query: string) =>
      (await walk<Transaction>(service.url, `/explorer/transactions?${query}`, 'keys')).map(
        ({ hash }) => hash,
      );
    const calls = (selectors: readonly string[]) =>
      oldestFirst()
        .filter(({ to, input }) => to !== null && selectors.includes(input.slice(0, 10)))
        .map(({ hash }) => hash);

    expect(await hashes('method=transfer')).toEqual(calls(['0xa9059cbb']));
    expect(await hashes('method=0xA9059CBB')).toEqual(calls(['0xa9059cbb']));
    expect(await hashes('method=transfer,approve&type=contract_call')).toEqual(
      calls(['0xa9059cbb', '0x095ea7b3']),
    );
    expect(await hashes('method=nobodyHasThis')).toEqual([]);
  });

  test('of one transaction’s transfers select their standard', async () => {
    const { page } = explorerAt(service.url);
    for (const { hash } of chain.transactions.slice(-40)) {
      const path = `/explorer/transactions/${hash}/token-transfers`;
      const { items } = await page<Transfer>(path);
      const found = await page<Transfer>(`${path}?type=ERC-721,ERC-1155`);
      expect(found.items).toEqual(items.filter(({ token_type }) => token_type !== 'ERC-20'));
    }
  });
});

describe('positions', () => {
  const status = async (path: string) => {
    const { status: code, body } = await explorerAt(service.url).get(path);
    return `${code} ${code === 400 ? JSON.stringify(body) : ''}`;
  };

  test.each([
    ['transactions?block_number=5', 'index'],
    ['transactions?index=5', 'block_number'],
    [`transactions?hash=0x${'a'.repeat(64)}`, 'block_number'],
    ['transactions?filter=pending&block_number=5&index=1', 'hash'],
    ['transactions?filter=pending&inserted_at=2024-05-12T18:21:35.000000Z', 'hash'],
    ['token-transfers?block_number=5', 'index'],
    ['token-transfers?index_in_batch=5', 'block_number'],
    ['token-transfers?batch_log_index=1', 'block_number'],
    ['blocks/5/transactions?index=5', 'block_number'],
  ])('that are incomplete (%s) are a 400 that names %s', async (path, name) => {
    expect(await status(`/explorer/${path}`)).toMatch(
      new RegExp(`^400 .*"${name}: must be given together with`),
    );
  });

  const foreign = (parts: Partial<Parameters<typeof encodeCursor>[0]>) =>
    encodeCursor({
      backend: 'index-31337',
      chainId: 31337,
      position: { block_number: 5, index: 1 },
      ...parts,
    });

  test.each<[string, string]>([
    ['that is garbled', 'garbled'],
    ['of another chain', foreign({ chainId: 31338 })],
    ['of another back end', foreign({ backend: 'index-31338' })],
    ['of another list', foreign({ position: { hash: `0x${'a'.repeat(64)}` } })],
    ['without a position', foreign({ position: {} })],
    ['with a position of another type', foreign({ position: { block_number: '5', index: 1 } })],
    ['with a negative position', foreign({ position: { block_number: -5, index: 1 } })],
  ])('in a cursor %s are a 400 that names it', async (_name, cursor) => {
    expect(await status(`/explorer/transactions?cursor=${cursor}`)).toMatch(/^400 .*"cursor: must be /);
  });

  test('in a cursor cannot be used with another chain', async () => {
    expect(await status(`/explorer/transactions?cursor=${foreign({})}&chain_id=1`)).toMatch(
      /^400 .*chain_id/,
    );
  });

  test('beyond the head start at the head, and at the first block end the list', async () => {
    const { page } = explorerAt(service.url);
    const beyond = await page<Block>('/explorer/blocks?block_number=9007199254740991');
    const far = await page<Transaction>(
      '/explorer/transactions?block_number=9007199254740991&index=9007199254740991',
    );
    const over = await page<Transaction>('/explorer/transactions?block_number=0&index=0');

    expect(beyond.items).toEqual((await page<Block>('/explorer/blocks')).items);
    expect(far.items).toEqual((await page<Transaction>('/explorer/transactions')).items);
    expect(over).toEqual({ items: [], next_page_params: null });
  });
});

/** The chain grows from here on, so these tests run last. */
describe('while blocks arrive', () => {
  test.each(WALKS)('a walk that sends back %s still visits every old item once', async how => {
    chain = await everything(node);
    const expected = oldestFirst().map(({ hash }) => hash);
    const found = await walk<Transaction>(service.url, '/explorer/transactions', how, mine);
    const blocks = await walk<Block>(service.url, '/explorer/blocks', how, mine);
    const heights = blocks.map(({ height }) => height);

    expect(found.map(({ hash }) => hash)).toEqual(expected);
    expect(heights).toEqual(Array.from({ length: heights.length }, (_, at) => heights.length - 1 - at));
  });

  test('pending transactions are walked by hash, each once, with their kind', async () => {
    const sent: string[] = [];
    const signer = accounts.signer(1);
    const nonce = await node.viem.getTransactionCount({ address: signer.address });
    for (let at = 0; at < 60; at += 1) {
      const signed = await signer.signTransaction({
        type: 'eip1559',
        chainId: 31337,
        nonce: nonce + at,
        gas: 21_000n,
        maxFeePerGas: 90_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        to: privateKeyToAccount(toHex(randomBytes(32))).address,
        value: 1n,
      });
      sent.push(String(await node.rpc.call('eth_sendRawTransaction', signed)));
    }
    const found = await walk<Transaction>(service.url, '/explorer/transactions?filter=pending', 'keys');
    const { transaction } = explorerAt(service.url);

    expect(found.map(({ hash }) => hash)).toEqual(sent.toSorted());
    expect(found.every(one => one.token_transfers?.length === 0)).toBe(true);
    expect(await transaction(sent[0] ?? '')).toMatchObject({
      result: 'pending',
      status: null,
      block_number: null,
      timestamp: null,
      gas_used: null,
      position: null,
      confirmations: 0,
      value: '1',
      nonce,
      fee: { type: 'maximum', value: (90_000_000_000n * 21_000n).toString() },
      confirmation_duration: [],
      token_transfers: [],
    });
  });

  test('a pending transaction is a contract call if its target has code now, in lists and as a record', async () => {
    const { page, transaction } = explorerAt(service.url);
    const signer = accounts.signer(4);
    const nonce = await node.viem.getTransactionCount({ address: signer.address });
    const nobody = privateKeyToAccount(toHex(randomBytes(32))).address;
    const contract = chain.receipts.find(({ contractAddress }) => contractAddress)?.contractAddress;
    const send = async (at: number, { to, data }: { to: Address; data?: Hex }) => {
      const signed = await signer.signTransaction({
        ...{ type: 'eip1559', chainId: 31337, nonce: nonce + at, gas: 100_000n, to },
        ...{ maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
        ...(data === undefined ? {} : { data }),
      });
      return String(await node.rpc.call('eth_sendRawTransaction', signed));
    };

    const plain = await send(0, { to: nobody, data: '0x12345678' });
    const call = await send(1, { to: contract ?? nobody });

    const types = await Promise.all(
      [plain, call].map(async hash => (await transaction(hash)).transaction_types),
    );
    expect(types).toEqual([[], ['contract_call']]);
    const calls = await page<Transaction>('/explorer/transactions?filter=pending&type=contract_call');
    expect(calls.items.map(({ hash }) => hash)).toContain(call);
    expect(calls.items.map(({ hash }) => hash)).not.toContain(plain);
    const bySelector = await page<Transaction>('/explorer/transactions?filter=pending&method=0x12345678');
    expect(bySelector.items.map(({ hash }) => hash)).toEqual([plain]);
  });

  test('a mined reward beyond 2^53 keeps its digits, and a set-code transaction its type', async () => {
    const signer = accounts.signer(2);
    const authority = privateKeyToAccount(toHex(randomBytes(32)));
    const nonce = await node.viem.getTransactionCount({ address: signer.address });
    const fees = { maxFeePerGas: 20_000_000_000_000n, maxPriorityFeePerGas: 10_000_000_000_007n };
    const authorization = await authority.signAuthorization({
      chainId: 31337,
      nonce: 0,
      contractAddress: accounts.signer(3).address,
    });
    const signed = await signer.signTransaction({
      type: 'eip7702',
      chainId: 31337,
      nonce,
      gas: 100_000n,
      ...fees,
      to: authority.address,
      value: parseEther('0.001'),
      authorizationList: [authorization],
    });
    const hash = String(await node.rpc.call('eth_sendRawTransaction', signed));
    await mine();
    await expect.poll(async () => (await explorerAt(service.url).transaction(hash)).status).toBe('ok');
    const record = await explorerAt(service.url).transaction(hash);
    const block = await node.viem.getBlock({ includeTransactions: true });
    const receipts = await Promise.all(
      block.transactions.map(one => node.viem.getTransactionReceipt({ hash: one.hash })),
    );
    const tips = receipts.reduce(
      (total, { gasUsed, effectiveGasPrice }) =>
        total + gasUsed * (effectiveGasPrice - (block.baseFeePerGas ?? 0n)),
      0n,
    );
    const text = await (await fetch(`${service.url}/explorer/blocks/${block.number}`)).text();

    expect(record.type).toBe(4);
    expect(record.to?.hash).toBe(authority.address);
    expect(tips).toBeGreaterThan(2n ** 53n);
    expect(text).toContain(`"reward":${tips},`);
  });
});
