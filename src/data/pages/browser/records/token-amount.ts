import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { decimalsIn, grouped, wholeUnits } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { clipped, Reference, shortened } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';

type Token = Explorer['Token'];
/** Fields that every token record has. */
type NamedToken = Pick<Token, 'address' | 'symbol' | 'name'>;
type Total = Explorer['TokenTransfer']['total'];

const SYMBOL_CHARACTERS = 16;
const ID_CHARACTERS = 12;

/** Token as a link to its page, labelled with its symbol. */
export function TokenReference({ chainId, token }: { chainId: number; token: NamedToken }): VNode {
  return h(Reference, {
    value: token.address,
    name: symbolOf(token),
    href: pageOf.token(chainId, token.address),
  });
}

/** Symbol of a token, else its name; undefined if it has neither. */
export function symbolOf({ symbol, name }: NamedToken): string | undefined {
  return clipped(symbol || name || '', SYMBOL_CHARACTERS) || undefined;
}

/** Converts smallest units of a token to whole units, exactly. Without decimals the amount stays as it is. */
export function tokenUnits(amount: string | bigint, decimals: string | null): string {
  return wholeUnits(amount, decimalsIn(decimals));
}

/** One NFT of a collection as a link to its page. */
export function InstanceReference({
  chainId,
  token,
  id,
}: {
  chainId: number;
  token: NamedToken;
  id: string;
}): VNode {
  const text = id.length > ID_CHARACTERS ? shortened(id) : id;
  return html`<a href=${pageOf.instance(chainId, token.address, id)} title=${id}>#${text}</a>`;
}

/** Amount of a transfer: units of a token, one NFT, or a number of one id. */
export function TransferAmount({
  chainId,
  token,
  total,
}: {
  chainId: number;
  token: Token | null;
  total: Total;
}): VNode {
  const unit = token === null ? 'of an unknown token' : h(TokenReference, { chainId, token });
  if (total === null) return html`<span class="amount">${unit}</span>`;
  if (!('token_id' in total)) {
    const { value, decimals } = total;
    const amount = value === null ? '' : tokenUnits(value, decimals ?? token?.decimals ?? null);
    return html`<span class="amount">${amount} ${unit}</span>`;
  }
  const { token_id: id } = total;
  const count = 'value' in total && total.value !== null ? `${grouped(total.value)} × ` : '';
  const item = id !== null && token !== null && h(InstanceReference, { chainId, token, id });
  return html`<span class="amount">${count}${unit} ${item}</span>`;
}
