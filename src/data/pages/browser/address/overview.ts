import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, type Loading } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { clipped, Name, Reference } from '#pages/browser/reference.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { type Explorer, pageOf } from '../api.ts';
import { Source } from '../frame.ts';
import { ownName } from '../records/address-reference.ts';
import { CoinAmount } from '../records/coin.ts';
import { TokenReference } from '../records/token-amount.ts';
import { TransactionReference } from '../records/transaction-columns.ts';
import { PortfolioValue } from './portfolio.ts';
import { ReceivedToday } from './received-today.ts';

type Details = Explorer['AddressDetails'];
type Counters = Explorer['AddressCounters'];

/** Balance, names and origin of an address. */
export function AddressFacts({
  chainId,
  address,
  headers,
}: {
  chainId: number;
  address: Details;
  headers: Headers;
}): VNode {
  const { token, ens_domain_name, implementations, public_tags } = address;
  const hasTokens = address.exchange_rate !== null && address.has_tokens !== false;
  return h(Card, {
    title: 'Overview',
    children: html`
      ${h(Facts, {
        rows: [
          ['Balance', h(Balance, { chainId, address })],
          ['Portfolio', hasTokens && h(PortfolioValue, { chainId, address })],
          ['Received today', address.exchange_rate !== null && h(ReceivedToday, { chainId, address })],
          ['Domain name', ens_domain_name !== undefined && clipped(ens_domain_name)],
          ['Tags', public_tags.length > 0 && public_tags.map(tag => clipped(tag.display_name)).join(', ')],
          ['Token', token !== null && h(TokenReference, { chainId, token })],
          ['Implementation', implementations.length > 0 && h(Implementations, { chainId, address })],
          ['Creator', createdBy(chainId, address)],
        ],
      })}
      ${h(Source, { headers })}
    `,
  });
}

function Balance({ chainId, address }: { chainId: number; address: Details }): VNode {
  const { coin_balance: balance, exchange_rate: rate, block_number_balance_updated_at: block } = address;
  if (balance === null) return html`<span>not read yet</span>`;
  return html`<span>
    ${h(CoinAmount, { chainId, amount: balance, rate })}
    ${block !== null && html`<span class="small"> as of block <a href=${pageOf.block(chainId, block)}>${grouped(block)}</a></span>`}
  </span>`;
}

function Implementations({ chainId, address }: { chainId: number; address: Details }): VNode {
  return html`<ul class="plain">
    ${address.implementations.map(
      ({ address_hash: hash, name }) => html`<li key=${hash}>
        <span class="party">
          ${h(Reference, { value: hash, href: pageOf.address(chainId, hash) })}
          ${name !== null && !isBlank(name) && h(Name, ownName(clipped(name)))}
        </span>
      </li>`,
    )}
  </ul>`;
}

function createdBy(chainId: number, address: Details): VNode | false {
  const { creator_address_hash: creator, creation_transaction_hash: transaction } = address;
  if (creator === null && transaction === null) return false;
  return html`<span class="row">
    ${creator !== null && h(Reference, { value: creator, href: pageOf.address(chainId, creator) })}
    ${transaction !== null && html`<span class="row">in ${h(TransactionReference, { chainId, hash: transaction })}</span>`}
  </span>`;
}

/** Activity counters of an address. */
export function CounterFacts({ counters }: { counters: Loading<Counters> }): VNode {
  return h(Card, {
    title: 'Activity',
    children: h(Awaited<Counters>, {
      loading: counters,
      children: counted =>
        h(Facts, {
          rows: [
            ['Transactions', numberOf(counted.transactions_count)],
            ['Token transfers', numberOf(counted.token_transfers_count)],
            ['Gas used', numberOf(counted.gas_usage_count)],
            ['Blocks validated', counted.validations_count !== '0' && numberOf(counted.validations_count)],
          ],
        }),
    }),
  });
}

function numberOf(count: string | null): string | null {
  return count === null ? null : grouped(count);
}
