import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bytesColumn } from '#db/columns.ts';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { keptCounts } from '../indexer/kept-counts.ts';
import {
  CHAIN_ID,
  canonicalContent,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../indexer/support.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { eachDatabase, sqliteDatabase, urlOf } from '../support/databases.ts';
import { script } from '../support/script.ts';

let chain: TestChain;
let dollar: Deployed;
let cards: Deployed;
const run = script('../src/tollgate.js');
const HOLDERS = 4;

beforeAll(async () => {
  chain = await startTestChain();
  dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  cards = await chain.deploy('Postcards', ['Cards', 'CRD']);
  await chain.mine();
  for (let holder = 1; holder <= HOLDERS; holder += 1) {
    const { address } = chain.accounts.signer(holder);
    await chain.send(0, dollar.call('mint', [address, 1_000n]));
    await chain.send(0, cards.call('mint', [address]));
  }
  await chain.mine();
});

afterAll(() => chain.stop());

eachDatabase('the command index verify', databases => {
  test('names each difference between an index and its node, and has it read again', async () => {
    const { database, index, config } = await indexed(await databases.create());
    const good = await canonicalContent(database);
    const holder = chain.accounts.signer(1).address;
    const sender = bytesColumn(chain.accounts.signer(0).address);
    const counted = await keptCounts(database);
    const [dollars, owned] = [dollar.address, cards.address].map(address => bytesColumn(address));
    await change(database, [
      ['delete from token_balances where token = ? and holder = ?', [dollars ?? '', bytesColumn(holder)]],
      ['delete from token_instances where token = ?', [owned ?? '']],
      ['update addresses set balance = ? where address = ?', [7n, bytesColumn(holder)]],
      ['update tokens set total_supply = null, holder_count = 9 where address = ?', [dollars ?? '']],
      ['update transaction_counts set transactions = 90, gas_sent = 0 where address = ?', [sender]],
      ['delete from address_counts where address = ?', [dollars ?? '']],
      ['update block_counters set gas_used = 6, blocks = 1000', []],
      ['update address_counters set contracts = 0', []],
    ]);

    const before = await run('index', 'verify', '--config', config);
    const repairing = await run('index', 'verify', '--config', config, '--repair');
    await index.runOnce();
    const after = await run('index', 'verify', '--config', config);

    const [card, money, account] = [cards.address, dollar.address, holder].map(text => text.toLowerCase());
    expect(before).toMatchObject({ code: 1, err: '' });
    const lines = before.out.split('\n').slice(1, -2);
    expect(lines).toHaveLength(14);
    expect(lines).toEqual(
      expect.arrayContaining([
        `  balance of ${account} in token ${money}: 0 in the index, 1000 on the chain`,
        ...(await ownersOf()).map(
          ([id, owner]) => `  owner of token ${card} id ${id}: none in the index, ${owner} on the chain`,
        ),
        `  coins of ${account}: 7 in the index, ${await coinsOf(holder)} on the chain`,
        `  token ${money}: none in the index, 4000 on the chain`,
        `  holders of ${money}: 9 in the index, 3 by its rows`,
        expect.stringMatching(/^ {2}transactions of 0x\w+: 90 in the index, \d+ by its rows$/),
        expect.stringMatching(/^ {2}gas sent of 0x\w+: 0 in the index, \d+ by its rows$/),
        `  transfers of token of ${money}: 0 in the index, 4 by its rows`,
        expect.stringMatching(/^ {2}blocks in total: 1000 in the index, \d+ by its rows$/),
        expect.stringMatching(/^ {2}gas used in total: 6 in the index, \d+ by its rows$/),
        expect.stringMatching(/^ {2}contracts in total: 0 in the index, [1-9]\d* by its rows$/),
      ]),
    );
    expect(before.out).toMatch(/\n {2}\d+ values compared, 14 differ\n$/);
    expect(repairing.code).toBe(0);
    expect(after).toMatchObject({ code: 0, out: expect.stringMatching(/ values compared, 0 differ\n$/) });
    expect(await canonicalContent(database)).toEqual(good);
    expect(await keptCounts(database)).toEqual(counted);
  });
});

async function coinsOf(address: string): Promise<string> {
  return String(BigInt(String(await chain.rpc.call('eth_getBalance', address, 'latest'))));
}

/** Ids of the cards and their owners, as the chain has them. */
async function ownersOf(): Promise<[id: number, owner: string][]> {
  const owners: [number, string][] = [];
  for (let id = 1; id <= HOLDERS; id += 1) {
    const word = String(await chain.rpc.call('eth_call', cards.call('ownerOf', [BigInt(id)]), 'latest'));
    owners.push([id, `0x${word.slice(-40)}`]);
  }
  return owners;
}

test('the command index verify stops at its limit and goes on from there', async () => {
  const { database, config } = await indexed(await ownDatabase(), 12);
  const holder = bytesColumn(chain.accounts.signer(9).address);
  await change(database, [['delete from addresses where address = ?', [holder]]]);

  const first = await run('index', 'verify', '--config', config, '--limit', '1');
  const [, next = ''] = /go on with --from (\d+)\n$/.exec(first.out) ?? [];
  const second = await run('index', 'verify', '--config', config, '--from', next);

  expect([first.code, second.code]).toEqual([0, 1]);
  expect(next).toBe('10');
  expect(second.out).toContain(`coins of ${chain.accounts.signer(9).address.toLowerCase()}: 0 in the index`);
});

test('the command index verify begins at the first block of an index', async () => {
  await chain.mine();
  const { config } = await indexed(await ownDatabase(), 0, chain.rpcUrl, 2);

  const none = await run('index', 'verify', '--config', config, '--limit', '0');
  const all = await run('index', 'verify', '--config', config);

  expect([none.code, none.out]).toEqual([0, expect.stringMatching(/go on with --from 2\n$/)]);
  expect([all.code, all.out]).toEqual([0, expect.stringMatching(/ values compared, 0 differ\n$/)]);
});

test('the command index verify distinguishes what a node does not give from what differs', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  node.tell(({ method }) => (method === 'eth_call' ? new Error('missing trie node') : undefined));
  const { config } = await indexed(await ownDatabase(), 0, node.url);

  const { code, out } = await run('index', 'verify', '--config', config);

  expect(code).toBe(1);
  expect(out).toMatch(/ values compared, 0 differ, \d+ that the node did not give\n$/);
});

test('the command index verify names what is wrong with its arguments', async () => {
  const { code, err } = await run('index', 'verify', '--limit', 'all');

  expect([code, err]).toEqual([2, expect.stringContaining('--limit must be a number')]);
});

/** An index of the chain after some more blocks, and a configuration that names it and a node. */
async function indexed(database: DatabaseOptions, blocks = 0, rpcUrl = chain.rpcUrl, fromBlock = 0) {
  for (let mined = 0; mined < blocks; mined += 1) await chain.mine();
  if (blocks > 0) {
    await chain.send(1, { to: chain.accounts.signer(9).address, value: 5n });
    await chain.mine();
  }
  const index = await openTestIndex({ database, client: chain.client, fromBlock });
  onTestFinished(() => index.stop());
  await index.runOnce();
  const config = join(chain.folder, `${randomUUID()}.yaml`);
  await writeFile(
    config,
    `chains:
  - id: ${CHAIN_ID}
    name: Test
    native: { symbol: ETH, decimals: 18 }
    rpc: ['${rpcUrl}']
    backends: [{ kind: index, database: '${urlOf(database)}' }]
`,
  );
  return { database, index, config };
}

async function change(
  database: DatabaseOptions,
  statements: readonly (readonly [sql: string, bindings: (string | bigint | Buffer)[]])[],
): Promise<void> {
  const db = openDatabase(indexOptions(database, CHAIN_ID));
  for (const [sql, bindings] of statements)
    await execute(
      db,
      sql,
      bindings.map(one => (typeof one === 'bigint' ? db.dialect.numeric(one) : one)),
    );
  await db.destroy();
}

async function ownDatabase(): Promise<DatabaseOptions> {
  const { options, remove } = await sqliteDatabase();
  onTestFinished(remove);
  return options;
}
