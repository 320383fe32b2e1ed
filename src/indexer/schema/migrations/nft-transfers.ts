/** The transfers of one id of a token. Its other index leads through all of a collection's. */
export const NFT_TRANSFERS = [
  `create index token_transfers_by_instance on token_transfers (token, token_id) where token_id is not null`,
] as const;
