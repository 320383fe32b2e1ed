const FORMER = ['drop index token_transfers_by_from', 'drop index token_transfers_by_to'];

/** Indexes by one side of a transfer and what its list can be narrowed to; `key` stands behind the columns. */
const indexes = (key: string) => [
  `create index token_transfers_by_sender on token_transfers (from_address, token_type${key})`,
  `create index token_transfers_by_receiver on token_transfers (to_address, token_type${key})`,
  `create index token_transfers_by_sender_and_token on token_transfers (from_address, token, token_type${key})`,
  `create index token_transfers_by_receiver_and_token on token_transfers (to_address, token, token_type${key})`,
];

/** What the lists of token transfers of an address need, so that each filter is an equality of an index. */
export const TRANSFERS_OF_ADDRESSES = [...FORMER, ...indexes('')];

/** The same on PostgreSQL, whose indexes do not end in the key by themselves. */
export const POSTGRES_TRANSFERS_OF_ADDRESSES = [...FORMER, ...indexes(', id')];
