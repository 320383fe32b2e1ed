import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { decimalsIn } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { clipped, Reference, shortened } from '#pages/browser/reference.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { type Explorer, pageOf } from '../api.ts';
import { ScamBadge } from './address-reference.ts';
import { TokenUnits, Units, Worth } from './figures.ts';

type Token = Explorer['Token'];
/** Fields that every token record has. */
type NamedToken = Pick<Token, 'address' | 'symbol' | 'name' | 'reputation'>;
type Total = Explorer['TokenTransfer']['total'];

const SYMBOL_CHARACTERS = 16;
const ID_CHARACTERS = 12;

/** Token as a link to its page, labelled with its symbol. */
export function TokenReference({ chainId, token }: { chainId: number; token: NamedToken }): VNode {
  return html`${h(Reference, {
    value: token.address,
    name: symbolOf(token),
    href: pageOf.token(chainId, token.address),
  })}${h(ScamBadge, { of: token })}`;
}

/** Symbol of a token, else its name; undefined if it has neither, or neither can be seen. */
export function symbolOf({ symbol, name }: Pick<NamedToken, 'symbol' | 'name'>): string | undefined {
  const text = [symbol, name].find(one => one !== null && !isBlank(one));
  return text == null ? undefined : clipped(text, SYMBOL_CHARACTERS);
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
    const decimals = total.decimals ?? token?.decimals ?? null;
    if (total.value === null) return html`<span class="amount">${unit}</span>`;
    const known = decimalsIn(decimals);
    return html`<span class="valued"><span class="amount">${h(TokenUnits, { amount: total.value, decimals })} ${unit}</span>${known !== undefined && h(Worth, { amount: total.value, decimals: known, rate: token?.exchange_rate })}</span>`;
  }
  const { token_id: id } = total;
  const count =
    'value' in total && total.value !== null && html`${h(Units, { amount: total.value, decimals: 0 })} × `;
  const item = id !== null && token !== null && h(InstanceReference, { chainId, token, id });
  return html`<span class="amount">${count}${unit} ${item}</span>`;
}
