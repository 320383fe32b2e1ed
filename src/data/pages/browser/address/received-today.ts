import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { COIN_DECIMALS, grouped } from '#pages/browser/amounts.ts';
import { Awaited, type Reply, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { api, type Explorer } from '../api.ts';
import { useChain } from '../records/coin.ts';
import { dollars, worth } from '../records/figures.ts';
import { pageQuery, type RecordCursor } from '../records/record-list.ts';
import { worthOfUnits } from './portfolio.ts';

type Details = Explorer['AddressDetails'];
type Transfer = Explorer['TokenTransfer'];

/** Pages of each list that are added up. */
const MOST_PAGES = 5;

/**
 * Coins and tokens received since midnight by the browser's clock, in dollars at today's rates (Decision 449). Added up
 * when the reader asks for it, because few do.
 */
export function ReceivedToday({ chainId, address }: { chainId: number; address: Details }): VNode {
  const [isAsked, setIsAsked] = useState(false);
  if (!isAsked) return html`<button type="button" onClick=${() => setIsAsked(true)}>Add up</button>`;
  const { hash, exchange_rate: rate } = address;
  return h(ReceivedSum, { chainId, hash, rate: Number(rate) });
}

function ReceivedSum({ chainId, hash, rate }: { chainId: number; hash: string; rate: number }): VNode {
  const decimals = useChain(chainId)?.native?.decimals ?? COIN_DECIMALS;
  const loading = useAnswer(
    signal => receivedToday({ chainId, hash, rate, decimals }, signal),
    [chainId, hash, rate, decimals],
  );
  return h(Awaited<Received>, { loading, skeleton: '…', children: received => sumOf(received) });
}

function sumOf({ value, blocks, tokens, unpriced, isCut }: Received): VNode {
  const parts = [
    blocks > 0 && html`<a href="?tab=balance">coins in ${counted(blocks, 'block')}</a>`,
    tokens > 0 && html`<a href="?tab=transfers&direction=to">${counted(tokens, 'token transfer')}</a>`,
  ].filter(part => part !== false);
  return html`<span>
    ${dollars(value)}
    <span class="small">
      ${' '}${parts.flatMap((part, at) => (at === 0 ? [part] : [' and ', part]))} since 00:00${parts.length > 0 && ', at today’s rates'}${unpriced > 0 && `; ${counted(unpriced, 'transfer')} without a price`}${isCut && '; of the latest 250 of a kind'}
    </span>
  </span>`;
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

interface Received {
  /** US dollars. */
  readonly value: number;
  /** Blocks after which the address had more coins than before. */
  readonly blocks: number;
  /** Transfers of tokens with a price. */
  readonly tokens: number;
  /** Transfers of tokens without a price, of NFTs, and of what its back end calls a scam. */
  readonly unpriced: number;
  /** True if there are more of today than were looked at. */
  readonly isCut: boolean;
}

interface Recipient {
  readonly chainId: number;
  readonly hash: string;
  /** US dollars per coin. */
  readonly rate: number;
  readonly decimals: number;
}

/**
 * Coins come from the balances after each block, because the call that brings coins can be inside a failed one, which no
 * record of a call says.
 */
async function receivedToday(
  { chainId, hash, rate, decimals }: Recipient,
  signal: AbortSignal,
): Promise<Reply<Received>> {
  const path = { address_hash: hash };
  const [balances, transfers] = await Promise.all([
    ofToday(
      position => {
        const asked = { params: { path, query: pageQuery(chainId, position) }, signal };
        return api.GET('/explorer/addresses/{address_hash}/coin-balance-history', asked);
      },
      ({ block_timestamp: time }) => time,
    ),
    ofToday(
      position => {
        const query = { ...pageQuery(chainId, position), filter: 'to' as const };
        return api.GET('/explorer/addresses/{address_hash}/token-transfers', {
          params: { path, query },
          signal,
        });
      },
      ({ timestamp }) => timestamp,
    ),
  ]);
  if (balances.data === undefined) return { error: balances.error, response: balances.response };
  if (transfers.data === undefined) return { error: transfers.error, response: transfers.response };
  const gains = balances.data.items.flatMap(({ delta }) => (BigInt(delta) > 0n ? [delta] : []));
  const others = transfers.data.items.filter(({ from }) => from?.hash !== hash);
  const ofCoins = gains.map(delta => worth(delta, decimals, rate));
  const ofTokens = others.flatMap(transfer => worthOfTransfer(transfer) ?? []);
  const data = {
    value: [...ofCoins, ...ofTokens].reduce((sum, one) => sum + one, 0),
    blocks: gains.length,
    tokens: ofTokens.length,
    unpriced: others.length - ofTokens.length,
    isCut: balances.data.isCut || transfers.data.isCut,
  };
  return { data, response: transfers.response };
}

/** Value of a token transfer in US dollars; undefined for an NFT, and as for a balance. */
function worthOfTransfer({ token, total }: Transfer): number | undefined {
  if (token === null || total === null || 'token_id' in total || total.value === null) return undefined;
  return worthOfUnits({ ...token, decimals: total.decimals ?? token.decimals }, total.value);
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly next_page_params: RecordCursor | null;
}

const NOT_IMPLEMENTED = 501;

/** Records since midnight of a list that runs from newest to oldest. Empty for a list that no back end has. */
async function ofToday<T>(
  load: (position: RecordCursor | undefined) => Promise<Reply<Listed<T>>>,
  timeOf: (item: T) => string | null | undefined,
): Promise<Reply<{ items: readonly T[]; isCut: boolean }>> {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const items: T[] = [];
  let position: RecordCursor | undefined;
  for (let page = 1; ; page += 1) {
    const { data: listed, error, response } = await load(position);
    if (response.status === NOT_IMPLEMENTED) return { data: { items, isCut: false }, response };
    if (listed === undefined) return { error, response };
    const recent = listed.items.filter(item => Date.parse(timeOf(item) ?? '') >= midnight);
    items.push(...recent);
    position = listed.next_page_params ?? undefined;
    const isOver = position === undefined || recent.length < listed.items.length;
    if (isOver || page === MOST_PAGES) return { data: { items, isCut: !isOver }, response };
  }
}
