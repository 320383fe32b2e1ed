/**
 * Columns that reads of the index compute or join, by the name each gives them with `as`. Rows of SQL text pick theirs from
 * here. Times are UTC milliseconds.
 */
export interface ComputedIndexColumns {
  /** Hash of the block that a row is in. */
  block_hash: Buffer;
  /** Time of the parent block, when that is indexed. */
  parent_timestamp: number | null;
  /** 1 for a block of the canonical chain, 0 for one that lost its place. */
  is_canonical: number;
  /** Number of the lowest canonical block. */
  first_number: number;
  /** 1 when no state has to be read again. */
  is_state_fresh: number;
  /** 1 for the newest block, 0 for an older one. */
  is_head: number;
  /** Hash and position of the transaction that a row is of, and the address that it called. */
  transaction_hash: Buffer;
  transaction_index: number;
  transaction_to: Buffer | null;
  /** What an event of a proxy names as its implementation. */
  upgraded_to: Buffer | null;
  /** Number of an address's transactions; null without any. */
  transaction_count: number | null;
  /** Block that a contract was created in; 0 where that is not known. */
  created_in: number;
  /** Name of a list in which an address was found. */
  found_in: string;
  /** 1 in a row that tells only that there is one. */
  is_found: number;
  /** Number of rows. */
  row_count: number;
  /** A sum of gas in decimal digits. */
  gas_total: string;
  /** The other token of a pair that has the base. */
  other_token: Buffer;
  is_base_first: number;
  /** List of the parts of a sum, see `pair_volumes`. */
  parts: string;
  /** Days since 1970-01-01 with a trade. */
  traded_day: number;
  /** Place of what a row is of among the wanted ones. */
  place: number;
  /** Block in which an address appears, the transaction that shows it, and 1 where coins may have moved. */
  in_block: number;
  moved_by: number | null;
  moves_coins: number;
  /** A holder of an instance, and how much of it; null for the owner of a unique one. */
  instance_holder: Buffer;
  instance_value: string | null;
}
