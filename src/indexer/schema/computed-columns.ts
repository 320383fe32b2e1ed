/**
 * Columns that reads of the index compute or join, by their `as` names. Rows of SQL queries pick their columns from
 * here.
 * Times are UTC milliseconds.
 */
export interface ComputedIndexColumns {
  /** Hash of the block that contains the row. */
  block_hash: Buffer;
  /** Time of the parent block; null when the parent is not indexed. */
  parent_timestamp: number | null;
  /** 1 for a block of the canonical chain, 0 for an orphaned one. */
  is_canonical: number;
  /** Number of the lowest canonical block. */
  first_number: number;
  /** 1 when no state of certain blocks is left to read. */
  is_state_fresh: number;
  /** Number of entries of state whose last read failed. */
  unread_state: number;
  /** 1 for the newest block, 0 for an older one. */
  is_head: number;
  /** Hash and position of the row's transaction, and the address that it called. */
  transaction_hash: Buffer;
  transaction_index: number;
  transaction_to: Buffer | null;
  /** Implementation that an event of a proxy names. */
  upgraded_to: Buffer | null;
  /** Number of an address's transactions; null when there are none. */
  transaction_count: number | null;
  /** Block that created a contract; 0 when unknown. */
  created_in: number;
  /** Name of a list in which an address was found. */
  found_in: string;
  /** 1 in a row that only shows that a match exists. */
  is_found: number;
  /** Number of rows. */
  row_count: number;
  /** Sum of gas in decimal digits. */
  gas_total: string;
  /** Other token of a pair that contains the base token. */
  other_token: Buffer;
  is_base_first: number;
  /** Counters as the index keeps them, and as its rows give them: decimal digits with spaces. */
  kept: string;
  counted: string;
  /** List of the parts of a sum, see `pair_volumes`. */
  parts: string;
  /** Days since 1970-01-01 with a trade. */
  traded_day: number;
  /** Position in the request of the item that the row belongs to. */
  place: number;
  /** Block in which an address appears, the transaction that shows it, and 1 if coins may have moved. */
  in_block: number;
  moved_by: number | null;
  moves_coins: number;
  /** Holder of an instance and its amount; null for the owner of a unique instance. */
  instance_holder: Buffer;
  instance_value: string | null;
}
