/** Types of a transaction, as document 1 names them. A transaction can have several. */
export const TRANSACTION_TYPES = [
  'contract_call',
  'coin_transfer',
  'contract_creation',
  'token_creation',
  'token_transfer',
] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export const TOKEN_TYPES = ['ERC-20', 'ERC-721', 'ERC-1155'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

/**
 * Type of internal transactions that are known from a log of the chain only: the coins moved, by an unknown kind of call
 * with an unknown amount of gas.
 */
export const COIN_LOG = 'coin_log';

/** Number of possible sets of transaction types, and so of values in the `facts` column. */
export const FACT_SETS = 2 ** TRANSACTION_TYPES.length;

/** Set of types as bits of an integer, in the order of `TRANSACTION_TYPES`. */
export function factsOf(types: readonly TransactionType[]): number {
  return types.reduce((bits, type) => bits | (1 << TRANSACTION_TYPES.indexOf(type)), 0);
}

export function typesOfFacts(facts: number): TransactionType[] {
  return TRANSACTION_TYPES.filter((_, bit) => (facts & (1 << bit)) !== 0);
}

/** Column value of a token type: 1, 2 or 3. */
export function tokenTypeColumn(type: TokenType): number {
  return TOKEN_TYPES.indexOf(type) + 1;
}

/**
 * Token type of a column value.
 * @throws when no type has that number
 */
export function tokenTypeOf(column: number): TokenType {
  const type = TOKEN_TYPES[column - 1];
  if (type === undefined) throw new Error(`No token type has the number ${column}.`);
  return type;
}
