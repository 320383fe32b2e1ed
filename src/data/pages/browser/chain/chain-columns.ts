import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import type { Column } from '#pages/browser/table.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { type Explorer, pageOf } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { ageColumn } from '../records/age-column.ts';
import { CoinAmount } from '../records/coin.ts';
import { GasPrice, TokenUnits } from '../records/figures.ts';
import { symbolOf, TokenReference } from '../records/token-amount.ts';
import { blockCell } from '../records/transaction-columns.ts';

/** Columns of a list of blocks. */
export function blockColumns(chainId: number): readonly Column<Explorer['Block']>[] {
  return [
    { name: 'Block', cell: ({ height }) => blockCell(chainId, height) },
    ageColumn(({ timestamp }) => timestamp),
    { name: 'Transactions', isNumber: true, cell: ({ transaction_count }) => countText(transaction_count) },
    {
      name: 'Gas used',
      isNumber: true,
      cell: ({ gas_used, gas_used_percentage: part }) =>
        `${countText(gas_used)}${part === null ? '' : ` (${part.toLocaleString('en', { maximumFractionDigits: 1 })} %)`}`,
    },
    {
      name: 'Base fee per gas',
      isNumber: true,
      cell: ({ base_fee_per_gas: fee }) => (fee === null ? '–' : h(GasPrice, { amount: fee })),
    },
    { name: 'Fee recipient', cell: ({ miner }) => h(AddressReference, { chainId, address: miner }) },
    {
      name: 'Hash',
      cell: ({ hash }) => h(Reference, { value: hash, href: pageOf.block(chainId, hash) }),
    },
  ];
}

/** Columns of a list of tokens. */
export function tokenColumns(chainId: number): readonly Column<Explorer['Token']>[] {
  return [
    {
      name: 'Token',
      cell: token => h(TokenReference, { chainId, token }),
    },
    {
      name: 'Name',
      cell: ({ name }) =>
        name === null || isBlank(name) ? '–' : html`<bdi class="clip" title=${name}>${clipped(name)}</bdi>`,
    },
    { name: 'Standard', cell: ({ type }) => type !== null && h(Badge, { children: clipped(type) }) },
    { name: 'Holders', isNumber: true, cell: ({ holders }) => countText(holders) },
    {
      name: 'Total supply',
      isNumber: true,
      cell: token =>
        token.total_supply === null
          ? '–'
          : h(TokenUnits, {
              amount: token.total_supply,
              decimals: token.decimals,
              symbol: symbolOf(token),
            }),
    },
    {
      name: 'Contract',
      cell: ({ address }) => h(Reference, { value: address, href: pageOf.token(chainId, address) }),
    },
  ];
}

/** Columns of a list of verified contracts. */
export function contractColumns(chainId: number): readonly Column<Explorer['SmartContractItem']>[] {
  return [
    {
      name: 'Contract',
      cell: ({ address }) => h(AddressReference, { chainId, address }),
    },
    { name: 'Language', cell: ({ language }) => textOf(language) },
    { name: 'Compiler', cell: ({ compiler_version }) => textOf(compiler_version) },
    { name: 'Transactions', isNumber: true, cell: ({ transactions_count }) => countText(transactions_count) },
    { name: 'Balance', isNumber: true, cell: ({ coin_balance }) => coinCell(chainId, coin_balance) },
  ];
}

/** Columns of a list of addresses by coin balance. */
export function accountColumns(chainId: number): readonly Column<Explorer['CoinHolder']>[] {
  return [
    { name: 'Address', cell: holder => h(AddressReference, { chainId, address: holder }) },
    { name: 'Type', cell: ({ is_contract }) => h(Badge, { children: is_contract ? 'contract' : 'account' }) },
    { name: 'Transactions', isNumber: true, cell: ({ transaction_count }) => countText(transaction_count) },
    { name: 'Balance', isNumber: true, cell: ({ coin_balance }) => coinCell(chainId, coin_balance) },
  ];
}

/** Columns of a list of validator withdrawals. */
export function withdrawalColumns(chainId: number): readonly Column<Explorer['Withdrawal']>[] {
  return [
    { name: 'Index', cell: ({ index }) => grouped(index) },
    { name: 'Validator', cell: ({ validator_index }) => grouped(validator_index) },
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ timestamp }) => timestamp),
    {
      name: 'Recipient',
      cell: ({ receiver }) => h(AddressReference, { chainId, address: receiver }),
    },
    { name: 'Amount', isNumber: true, cell: ({ amount }) => coinCell(chainId, amount) },
  ];
}

function countText(count: string | number | null | undefined): string {
  return count == null ? '–' : grouped(count);
}

function textOf(text: string | null | undefined): string {
  return text == null ? '–' : clipped(text);
}

function coinCell(chainId: number, amount: string | null): ComponentChildren {
  return amount === null ? '–' : h(CoinAmount, { chainId, amount });
}
