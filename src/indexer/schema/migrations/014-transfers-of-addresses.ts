const FORMER = ['drop index token_transfers_by_from', 'drop index token_transfers_by_to'];

/** Indexes by one side of a transfer and each filter of its list. `key` is appended to the columns. */
const indexes = (key: string) => [
  `create index token_transfers_by_sender on token_transfers (from_address, token_type${key})`,
  `create index token_transfers_by_receiver on token_transfers (to_address, token_type${key})`,
  `create index token_transfers_by_sender_and_token on token_transfers (from_address, token, token_type${key})`,
  `create index token_transfers_by_receiver_and_token on token_transfers (to_address, token, token_type${key})`,
];

/** Indexes for the token transfers of an address. Each filter is an equality on an index. */
export const TRANSFERS_OF_ADDRESSES = [...FORMER, ...indexes('')];

/** Same indexes on PostgreSQL, where an index does not end in the row's key automatically. */
export const POSTGRES_TRANSFERS_OF_ADDRESSES = [...FORMER, ...indexes(', id')];
