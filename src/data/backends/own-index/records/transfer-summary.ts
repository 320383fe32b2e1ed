import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import type { Parties } from '../parts/parties.ts';
import { addressVariable, type Summary, sentence, text, tokenAmount } from './summary.ts';

const VERBS = { token_minting: 'Mint', token_burning: 'Burn', token_transfer: 'Transfer' } as const;

/** One token transfer, minting or burning in words. What is burnt goes to nobody, so its owner is named instead. */
export function transferSentence(row: TokenTransferRow, parties: Parties): Summary {
  const isBurn = row.type === 'token_burning';
  const record = parties.token(row.token);
  const whom = isBurn
    ? { from_address: addressVariable(parties, row.from) }
    : { to_address: addressVariable(parties, row.to) };
  const token =
    record === null ? addressVariable(parties, row.token) : ({ type: 'token', value: record } as const);
  const amount = row.amount === null ? {} : { amount: tokenAmount(row.amount, record?.decimals ?? null) };
  const id = row.tokenId === null ? {} : { token_id: text(row.tokenId.toString()) };
  const placeholders = [...Object.keys(amount), 'token', ...Object.keys(id)].map(name => `{${name}}`);
  return sentence(
    VERBS[row.type],
    `${placeholders.join(' ')} ${isBurn ? 'from {from_address}' : 'to {to_address}'}`,
    { ...amount, token, ...id, ...whom },
  );
}
