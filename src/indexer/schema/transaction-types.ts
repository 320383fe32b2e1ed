/** What a transaction is, as document 1 names it; a transaction can be several. */
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

/** Number of different sets of transaction types, hence of values in the `facts` column. */
export const FACT_SETS = 2 ** TRANSACTION_TYPES.length;

/** The set as bits of an integer, in the order of `TRANSACTION_TYPES`. */
export function factsOf(types: readonly TransactionType[]): number {
  return types.reduce((bits, type) => bits | (1 << TRANSACTION_TYPES.indexOf(type)), 0);
}

export function typesOfFacts(facts: number): TransactionType[] {
  return TRANSACTION_TYPES.filter((_, bit) => (facts & (1 << bit)) !== 0);
}

/** The column form of a token type: 1, 2, 3. */
export function tokenTypeColumn(type: TokenType): number {
  return TOKEN_TYPES.indexOf(type) + 1;
}

/** @throws when the column holds what was never written. */
export function tokenTypeOf(column: number): TokenType {
  const type = TOKEN_TYPES[column - 1];
  if (type === undefined) throw new Error(`No token type has the number ${column}.`);
  return type;
}
