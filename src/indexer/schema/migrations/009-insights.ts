/** Everything that blocks brought, children first. Triggers take along what they keep. */
const FROM_BLOCKS = [
  'token_balances',
  'token_instances',
  'tokens',
  'addresses',
  'contracts',
  'withdrawals',
  'internal_transactions',
  'token_transfers',
  'logs',
  'transactions',
  'blocks',
  'dirty',
];

/**
 * What document 2 shows of blocks and transactions and nobody searches by. It lies beside them, row by row, because
 * walks over many rows take as long as the rows are wide. An empty bloom is no bytes.
 * None of it can be found in an index from before: that is emptied, reads the chain again and is another one from then
 * on, so that no answer out of the old one passes for fresh.
 */
export const INSIGHTS = [
  ...FROM_BLOCKS.map(table => `delete from ${table}`),
  'update index_state set identity = lower(hex(randomblob(8))), epoch = 0, high_water = -1',
  `create table block_details (
    number integer primary key,
    sha3_uncles blob,
    mix_hash blob,
    transactions_root blob,
    receipts_root blob,
    withdrawals_root blob,
    logs_bloom blob
  ) strict`,
  `create table transaction_details (
    id integer primary key,
    r text not null,
    s text not null,
    v text not null,
    cumulative_gas_used integer,
    access_list text,
    logs_bloom blob
  ) strict`,
  // The other index over selectors has the facts in between, so of one selector it is not in the chain's order.
  'create index transactions_by_function on transactions (selector) where selector is not null',
  // An event of a contract is found by this; the two before it were for parts of that.
  'drop index logs_by_topic',
  'drop index logs_upgraded',
  'create index logs_by_event on logs (address, topic0)',
  'create index logs_by_topic1 on logs (address, topic0, topic1) where topic1 is not null',
  'create index logs_by_topic2 on logs (address, topic0, topic2) where topic2 is not null',
  'create index logs_by_topic3 on logs (address, topic0, topic3) where topic3 is not null',
] as const;
