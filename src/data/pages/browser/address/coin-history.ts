import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { COIN_DECIMALS, wholeUnits } from '#pages/browser/amounts.ts';
import { useAnswer } from '#pages/browser/answer.ts';
import { Chart } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import { ageColumn } from '../records/age-column.ts';
import { CoinAmount, useChain } from '../records/coin.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { blockCell, TransactionReference } from '../records/transaction-columns.ts';
import type { ChainAddress } from './activity.ts';

type Balance = Explorer['CoinBalance'];
type Day = Explorer['CoinBalanceOfDay'];

const SHOWN_DIGITS = 6;

/** Coin balance of an address: a chart by day, and a list of all changes. */
export function CoinHistory({ chainId, address }: ChainAddress): VNode {
  return html`
    ${h(DailyBalances, { chainId, address })}
    ${recordList({
      label: 'Coin balance history',
      columns: balanceColumns(chainId),
      keyOf: ({ block_number }: Balance) => String(block_number),
      empty: 'The coin balance has not changed yet.',
      download: ['listAddressCoinBalances', { chain_id: chainId, address_hash: address }],
      load: (position: RecordCursor | undefined, signal) =>
        api.GET('/explorer/addresses/{address_hash}/coin-balance-history', {
          params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
          signal,
        }),
    })}
  `;
}

/** Renders nothing when no back end has balances by day, because the list below shows the same. */
function DailyBalances({ chainId, address }: ChainAddress): VNode | null {
  const days = useAnswer(
    signal =>
      api.GET('/explorer/addresses/{address_hash}/coin-balance-history-by-day', {
        params: { path: { address_hash: address }, query: { chain_id: chainId } },
        signal,
      }),
    [chainId, address],
  ).answer?.data.items;
  const coin = useChain(chainId)?.native;
  if (days === undefined || days.length < 2) return null;
  return h(BalanceChart, { days, decimals: coin?.decimals ?? COIN_DECIMALS, symbol: coin?.symbol });
}

function BalanceChart({
  days,
  decimals,
  symbol,
}: {
  days: readonly Day[];
  decimals: number;
  symbol: string | undefined;
}): VNode {
  const amounts = days.map(({ value }) => Number(wholeUnits(value, decimals).replaceAll(',', '')));
  return h(Chart, {
    label: symbol === undefined ? 'Balance per day' : `Balance per day in ${symbol}`,
    times: days.map(({ date }) => Date.parse(date)),
    series: [{ label: 'Balance', values: amounts }],
    format: (amount: number) => amount.toLocaleString('en', { maximumSignificantDigits: SHOWN_DIGITS }),
  });
}

function balanceColumns(chainId: number): readonly Column<Balance>[] {
  return [
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ block_timestamp }) => block_timestamp),
    {
      name: 'Transaction',
      cell: ({ transaction_hash: hash }) =>
        hash === null ? '–' : h(TransactionReference, { chainId, hash }),
    },
    {
      name: 'Change',
      isNumber: true,
      cell: ({ delta }) => html`${BigInt(delta) > 0n && '+'}${h(CoinAmount, { chainId, amount: delta })}`,
    },
    {
      name: 'Balance',
      isNumber: true,
      cell: ({ value }) => h(CoinAmount, { chainId, amount: value }),
    },
  ];
}
