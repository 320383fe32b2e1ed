import { expect, test } from 'vitest';
import { block } from '#data/backends/blockscout/normalise/block.ts';
import { each, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { parseJson } from '#lib/json-text/lossless-json.ts';
import { PLACEHOLDER } from '../../lab/blockscout/blocks.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const LISTS = ['listBlocks', 'listAddressBlocksValidated'];

const blocksOf = (page: unknown) => each(fieldsOf(page).items, block);
const named = (operationId: string) => fixturesOf(operationId).map(({ name, body }) => [name, body] as const);
const classic = () => fieldsOf(fixtureOf('getBlock', 'v6-classic').body);

test.each(LISTS.flatMap(id => named(id).map(([name, body]) => [id, name, body] as const)))(
  '%s of %s is a page of the contract',
  async (operationId, _name, body) => {
    const items = blocksOf(body);

    expect(items).not.toEqual([]);
    expect(await validates(operationId, { items, next_page_params: null })).toEqual([]);
  },
);

test.each(named('getBlock'))('a single block of %s is a record of the contract', async (_name, body) => {
  expect(await validates('getBlock', block(body))).toEqual([]);
});

test.each(named('listMainPageBlocks'))(
  'the main page of %s is a list of the contract',
  async (_name, body) => {
    const blocks = each(body, block);

    expect(blocks).toHaveLength(2);
    expect(await validates('listMainPageBlocks', blocks)).toEqual([]);
  },
);

test('a block has every field of the contract with upstream’s value', () => {
  expect(block(fixtureOf('getBlock', 'v11').body)).toEqual({
    base_fee_per_gas: '5000000000',
    block_access_list_hash: null,
    burnt_fees: '65625000000000000',
    burnt_fees_percentage: 87.5,
    difficulty: '0',
    extra_data: null,
    gas_limit: '30000000',
    gas_target_percentage: -12.5,
    gas_used: '13125000',
    gas_used_percentage: 43.75,
    hash: '0x36fcaa7dd5d82f24d7a4207a26c27c4f403eb5aa47fc630fb8213ee1605772ff',
    height: 19854321,
    miner: {
      hash: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5',
      implementation_name: null,
      is_contract: false,
      is_verified: false,
      name: 'beaverbuild',
      private_tags: [],
      public_tags: [],
      watchlist_names: [],
    },
    nonce: '0x0000000000000000',
    parent_hash: '0x64288a19d819852cff325f322e5cee58c16145f3d235729cf0bf594f69402404',
    priority_fee: '9375000000000000',
    rewards: [{ type: 'Miner Reward', reward: 9_375_000_000_000_000n }],
    size: 86432,
    slot_number: null,
    proven: null,
    state_root: null,
    timestamp: '2024-05-12T18:21:35.000000Z',
    total_difficulty: '58750003716598352816469',
    transaction_count: 184,
    transaction_fees: '75000000000000000',
    type: 'block',
    uncles_hashes: [],
    withdrawals_count: 16,
  });
});

test('a single block is the same in all generations, except for withdrawals, which 5.1 lacks', () => {
  const generations = fixturesOf('getBlock').filter(({ path }) => path === '/blocks/19854321');
  const latest = block(fixtureOf('getBlock', 'v12').body);

  expect(generations.map(({ version }) => version)).toEqual([
    ...['5.1.3', '6.3.0', '6.9.2', '7.0.2', '8.1.2', '11.2.7', '12.0.0'],
  ]);
  for (const { name, body } of generations) {
    const withdrawals = name === 'v5' ? { withdrawals_count: null } : {};
    expect(block(body), name).toEqual({ ...latest, ...withdrawals });
  }
});

test('a page is the same in all generations, except for withdrawals, which 5.1 lacks', () => {
  const generations = fixturesOf('listBlocks').filter(({ name }) => name !== 'v12');
  const latest = blocksOf(fixtureOf('listBlocks', 'v11').body);

  expect(generations).toHaveLength(7);
  for (const { name, body } of generations) {
    const withdrawals = name === 'v5' ? { withdrawals_count: null } : {};
    expect(blocksOf(body), name).toEqual(latest.map(item => ({ ...item, ...withdrawals })));
  }
});

test('a block in a list equals the single block', () => {
  const [listed] = blocksOf(fixtureOf('listBlocks', 'v11').body);

  expect(listed).toEqual(block(fixtureOf('getBlock', 'v11').body));
});

test('the placeholder of versions up to 5.2 means no extra data and no state root', () => {
  const { body } = fixtureOf('getBlock', 'v5');

  expect(PLACEHOLDER).not.toMatch(/^0x/);
  expect(fieldsOf(body)).toMatchObject({ extra_data: PLACEHOLDER, state_root: PLACEHOLDER });
  expect(block(body)).toMatchObject({ extra_data: null, state_root: null });
});

test('present extra data and a present state root are kept', () => {
  const stateRoot = `0x${'5a'.repeat(32)}`;

  expect(block({ ...classic(), extra_data: '0x6265', state_root: stateRoot })).toMatchObject({
    extra_data: '0x6265',
    state_root: stateRoot,
  });
});

test.each([
  ['validator', 'Miner Reward'],
  ['uncle', 'Uncle Reward'],
  ['emission_funds', 'Emission Reward'],
  ['Miner Reward', 'Miner Reward'],
  ['Uncle Reward', 'Uncle Reward'],
  ['Emission Reward', 'Emission Reward'],
  ['Chore Reward', 'Chore Reward'],
])('a reward of the kind %s is a %s', (kind, type) => {
  const record = { ...classic(), rewards: [{ reward: '7', type: kind }] };

  expect(block(record).rewards).toEqual([{ reward: 7n, type }]);
});

test('a reward of an unknown kind is left out, and the others keep their exact amounts', () => {
  expect(classic().rewards).toHaveLength(4);
  expect(block(classic()).rewards).toEqual([
    { reward: 2_512_050_000_000_000_000n, type: 'Miner Reward' },
    { reward: 1_750_000_000_000_000_000n, type: 'Uncle Reward' },
    { reward: 1_000_000_000_000_000_000n, type: 'Emission Reward' },
  ]);
});

test('integers beyond 2^53 keep their digits, as strings or as numbers', () => {
  expect(block(classic())).toMatchObject({
    difficulty: '7742493487903256',
    total_difficulty: '28634929270432462348212',
  });
});

test('uncles are hashes, whether upstream sends objects or strings', () => {
  const hash = `0x${'Ab'.repeat(32)}`;
  const record = { ...classic(), uncles_hashes: [{ hash }, hash] };

  expect(block(record).uncles_hashes).toEqual([hash.toLowerCase(), hash.toLowerCase()]);
});

test('an uncle in a list of uncles is still marked as an uncle', () => {
  const [uncle] = blocksOf(fixtureOf('listBlocks', 'v12').body);

  expect(uncle).toMatchObject({ type: 'uncle', rewards: [], uncles_hashes: [] });
});

test('a block without a base fee has null for burnt fees, where upstream says zero', () => {
  const { base_fee_per_gas, burnt_fees } = classic();

  expect([base_fee_per_gas, burnt_fees]).toEqual([null, '0']);
  expect(block(classic())).toMatchObject({ base_fee_per_gas: null, burnt_fees: null, priority_fee: null });
});

test('an empty block with a base fee burnt zero', () => {
  expect(block(fixtureOf('getBlock', 'v8-arbitrum').body)).toMatchObject({
    burnt_fees: '0',
    burnt_fees_percentage: null,
    gas_target_percentage: -100,
    gas_limit: '1125899906842624',
    size: null,
    total_difficulty: null,
    withdrawals_count: null,
    rewards: [],
  });
});

test('numbers with exponents are read, and fields of a layer 2 are left out', () => {
  const optimism = block(fixtureOf('getBlock', 'v11-optimism').body);

  expect(optimism).toMatchObject({
    size: 1024,
    gas_used_percentage: 0.00105,
    gas_target_percentage: -99.9937,
    burnt_fees_percentage: 0.02519365,
    miner: { implementation_name: 'SequencerFeeVault' },
  });
  expect(optimism).not.toHaveProperty('optimism');
});

test('when a count comes under two names, the newest non-empty one is used', () => {
  const counts = { transactions_count: null, transaction_count: 12, tx_count: 11 };

  expect(block({ ...classic(), ...counts }).transaction_count).toBe(12);
  expect(block({ ...classic(), ...counts, transactions_count: '13' }).transaction_count).toBe(13);
});

test('counts, a height and a percentage may be strings', () => {
  const record = { ...classic(), height: '12964998', size: '70412', gas_used_percentage: '0' };

  expect(block(record)).toMatchObject({ height: 12964998, size: 70412, gas_used_percentage: 0 });
});

test.each([
  ['hash', null],
  ['hash', '0x12'],
  ['height', undefined],
  ['height', 'soon'],
  ['height', -1],
  ['timestamp', null],
  ['parent_hash', PLACEHOLDER],
  ['miner', null],
])('a block whose %s is %s is unreadable', (name, value) => {
  expect(() => block({ ...classic(), [name]: value })).toThrow(
    expect.objectContaining({ name: 'UnreadableRecord', path: name }),
  );
});

test('a field that identifies nothing is null when upstream omits it or sends nonsense', async () => {
  const { gas_used: _used, nonce: _nonce, transaction_fees: _fees, tx_fees: _old, ...others } = classic();
  const read = block({ ...others, type: 'forked', size: -1, withdrawals_count: '-5' });

  expect(read).toMatchObject({ gas_used: null, nonce: null, transaction_fees: null, type: null });
  expect(read).toMatchObject({ size: null, withdrawals_count: null });
  expect(await validates('getBlock', read)).toEqual([]);
});

test('a reward without an amount is left out, and the others stay', () => {
  const paid = { type: 'uncle', reward: '1' };
  const rewards = [{ type: 'validator', reward: null }, paid, { type: 'validator', reward: -1 }, null];

  expect(block({ ...classic(), rewards }).rewards).toEqual([{ type: 'Uncle Reward', reward: 1n }]);
});

test('a tag without an address is left out, and the miner keeps the others', () => {
  const tag = { address_hash: fieldsOf(classic().miner).hash, display_name: 'Pool', label: 'pool' };
  const public_tags = [{ display_name: 'a', label: 'b' }, null, tag];
  const miner = { ...fieldsOf(classic().miner), public_tags, private_tags: [null], watchlist_names: [null] };

  expect(block({ ...classic(), miner }).miner).toMatchObject({
    public_tags: [tag],
    private_tags: [],
    watchlist_names: [],
  });
});

test('the path of an unreadable value leads into the list and the miner', () => {
  const items = [classic(), { ...classic(), miner: { name: 'nobody' } }];

  expect(() => each(items, block)).toThrow(expect.objectContaining({ path: '[1].miner.hash' }));
});

test('a duplicate key in a cursor does not make its page unreadable', () => {
  const { text } = fixtureOf('listBlocks', 'v9');

  expect(text.match(/"block_number":/g)).toHaveLength(2);
  expect(fieldsOf(parseJson(text)).next_page_params).toEqual({ block_number: 12964998, items_count: 50 });
});
