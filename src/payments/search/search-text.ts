import { parseUnits } from 'viem';
import { isId } from '../../lib/ids.ts';
import type { Mode } from '../model/owner.ts';
import type { PaymentChains } from '../model/payment-chain.ts';

/** Ids by which records are found, with their prefixes. */
const ID_KINDS = {
  cs: 'session',
  txn: 'transaction',
  pl: 'link',
  re: 'refund',
  utr: 'transfer',
  cust: 'customer',
} as const;

/** An amount in smallest units, and the tokens in which it may be meant. */
export interface SoughtAmount {
  readonly units: bigint;
  /** Lower case. Not empty. */
  readonly tokens: readonly string[];
}

/** Subject of a search, by the form of its text (Decision 430). */
export type SearchText =
  | { readonly kind: (typeof ID_KINDS)[keyof typeof ID_KINDS]; readonly id: string }
  /** Lower case. */
  | { readonly kind: 'hash'; readonly hash: string }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'text'; readonly text: string; readonly amounts: readonly SoughtAmount[] };

/** Reads the text of a search. Undefined for an empty one. */
export function searchTextOf(
  given: string | undefined,
  { chains, mode }: { readonly chains: PaymentChains; readonly mode: Mode },
): SearchText | undefined {
  const text = given?.trim() ?? '';
  if (text === '') return undefined;
  // Order references such as `re_1001` begin like an id too.
  const [prefix = ''] = text.split('_', 1);
  if (isIdPrefix(prefix) && isId(prefix, text)) return { kind: ID_KINDS[prefix], id: text };
  if (/^0x[\da-f]{64}$/i.test(text)) return { kind: 'hash', hash: text.toLowerCase() };
  if (/^0x[\da-f]{40}$/i.test(text)) return { kind: 'address', address: text.toLowerCase() };
  if (text.includes('@')) return { kind: 'email', email: text };
  const tokens = chains.all.filter(chain => chain.mode === mode).flatMap(chain => chain.tokens);
  return { kind: 'text', text, amounts: amountsOf(text, tokens) };
}

function isIdPrefix(prefix: string): prefix is keyof typeof ID_KINDS {
  return Object.hasOwn(ID_KINDS, prefix);
}

/** A number of at most 30 digits, and as many decimal places as the tokens have. */
const AMOUNT = /^(?<whole>\d{1,30})(?:[.,](?<decimals>\d{1,30}))?(?:\s*(?<symbol>[^\s\d]\S{0,20}))?$/u;

/** Digits of the largest amount in smallest units. */
const MOST_DIGITS = 78;

function amountsOf(
  text: string,
  tokens: readonly { readonly address: string; readonly symbol: string; readonly decimals: number }[],
): SoughtAmount[] {
  const { whole, decimals: written = '', symbol } = AMOUNT.exec(text)?.groups ?? {};
  if (whole === undefined) return [];
  const exact = written.replace(/0+$/, '');
  const meant = tokens.filter(
    token =>
      token.decimals >= exact.length &&
      token.decimals + whole.length <= MOST_DIGITS &&
      (symbol === undefined || token.symbol.toUpperCase() === symbol.toUpperCase()),
  );
  const byUnits = Map.groupBy(meant, ({ decimals }) => parseUnits(`${whole}.${exact}`, decimals));
  return Array.from(byUnits, ([units, of]) => ({ units, tokens: [...new Set(of.map(one => one.address))] }));
}
