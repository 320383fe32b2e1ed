import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, type Fact, Facts } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { clipped } from '#pages/browser/reference.ts';
import { Table } from '#pages/browser/table.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { Finality } from '../records/chain-facts.ts';
import { CodeText } from '../records/code-text.ts';
import { CoinAmount } from '../records/coin.ts';
import { DecodedParameters } from '../records/decoded-parameters.ts';
import { GasPrice, GasUsed } from '../records/figures.ts';
import { blockCell, methodCell, TransactionStatus } from '../records/transaction-columns.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';
import { NonceLinks } from './nonce-links.ts';

type Transaction = Explorer['Transaction'];

const REASON_CHARACTERS = 400;
const CALL_CHARACTERS = 300;
/** Names of the types of transactions (EIP-2718). */
const TYPES: Readonly<Record<number, string>> = {
  0: ' (legacy)',
  1: ' (EIP-2930)',
  2: ' (EIP-1559)',
  3: ' (EIP-4844)',
  4: ' (EIP-7702)',
};

/**
 * Overview of a transaction: its parties, its fee, the tokens it moved, and its input. `isRemoved` is true for one that
 * is no longer on the chain.
 */
export function TransactionOverview({
  chainId,
  transaction,
  isRemoved,
}: {
  chainId: number;
  transaction: Transaction;
  isRemoved: boolean;
}): VNode {
  return html`<div class="stack">
    ${h(Failure, { transaction })}
    <div class="grid">
      ${h(Card, { title: 'Overview', children: h(Facts, { rows: overview(chainId, transaction, isRemoved) }) })}
      ${h(TransactionFee, { chainId, transaction })}
    </div>
    ${h(TokenTransfers, { chainId, transaction })}
    ${h(Input, { chainId, transaction })}
  </div>`;
}

/** Error of a failed transaction, with the contract's own reason if it gave one, or a note that the outcome is unknown. */
function Failure({ transaction }: { transaction: Transaction }): VNode | null {
  const { status, result, revert_reason: reason, has_error_in_internal_transactions } = transaction;
  if (transaction.block_number !== null && transaction.gas_used === null) {
    return html`<p class="notice warning">
      The node has not given the receipt of this transaction. Its status, fee, logs and token transfers are not known.
    </p>`;
  }
  if (status !== 'error') {
    return has_error_in_internal_transactions === true
      ? html`<p class="notice warning">An internal call failed; the transaction continued without it.</p>`
      : null;
  }
  return html`<div class="notice bad">
    <p><strong>${clipped(result, REASON_CHARACTERS)}</strong></p>
    ${reason !== null && html`<p><code class="text">${clipped(reason, REASON_CHARACTERS)}</code></p>`}
    ${
      reason !== null &&
      reason.length > REASON_CHARACTERS &&
      html`<details>
        <summary>Full reason</summary>
        ${h(CodeText, { label: 'Reason', value: reason })}
      </details>`
    }
  </div>`;
}

function overview(chainId: number, transaction: Transaction, isRemoved: boolean): readonly Fact[] {
  const { block_number, timestamp, from, to, created_contract, value, method } = transaction;
  const { confirmation_duration: durations, position, type, actions } = transaction;
  const party = (address: Explorer['Address']) => h(AddressReference, { chainId, address, isWhole: true });
  return [
    ['Status', h(TransactionStatus, { transaction, isRemoved })],
    [
      'Block',
      block_number !== null &&
        html`<span class="row">${blockCell(chainId, block_number)}${!isRemoved && h(Finality, { chainId, block: block_number })}</span>`,
    ],
    ['Timestamp', timestamp !== null && html`${h(Moment, { at: timestamp })} (${h(Ago, { at: timestamp })})`],
    ['Confirmed', durationText(durations)],
    ['From', party(from)],
    ['To', to !== null && party(to)],
    ['Created contract', created_contract !== null && party(created_contract)],
    ['Value', h(CoinAmount, { chainId, amount: value, rate: transaction.exchange_rate })],
    ['Method', methodCell(method, to === null)],
    [
      'Actions',
      actions.length > 0 &&
        actions.map(
          ({ protocol, type: action }, index) =>
            html`<div key=${index}>${clipped(action)} on ${clipped(protocol)}</div>`,
        ),
    ],
    ['Nonce', h(NonceFact, { chainId, transaction })],
    [
      'Other attributes',
      [
        ...(position === null ? [] : [`Position in block: ${position}`]),
        ...(type === null ? [] : [`Type: ${type}${TYPES[type] ?? ''}`]),
      ].join(', '),
    ],
  ];
}

function NonceFact({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  return html`<span class="row">${grouped(transaction.nonce)}${h(NonceLinks, { chainId, transaction })}</span>`;
}

/** First token transfers of a transaction, with a link to all of them if there are more. */
function TokenTransfers({
  chainId,
  transaction,
}: {
  chainId: number;
  transaction: Transaction;
}): VNode | null {
  const { token_transfers: transfers, token_transfers_overflow: hasMore } = transaction;
  if (transfers === null || transfers.length === 0) return null;
  return h(Card, {
    title: 'Token transfers',
    aside: hasMore === true && html`<a href="?tab=transfers">All transfers</a>`,
    children: h(Table<Explorer['EmbeddedTokenTransfer']>, {
      label: 'Token transfers',
      columns: transferColumns(chainId, { isOfTransaction: true }),
      items: transfers,
      keyOf: transferKey,
    }),
  });
}

function durationText(bounds: readonly number[]): string | null {
  const [least, most] = bounds.map(ms => (ms / 1000).toLocaleString('en'));
  if (least === undefined) return null;
  if (most === undefined || least === most) return `within ${least} s`;
  return least === '0' ? `within ${most} s` : `within ${least} to ${most} s`;
}

/** Input of the call, decoded if the ABI is known, and raw. */
function Input({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode | null {
  const { decoded_input: decoded, raw_input: raw } = transaction;
  const hasRaw = raw !== null && raw !== '0x';
  if (decoded === null && !hasRaw) return null;
  return h(Card, {
    title: 'Input data',
    aside: decoded === null && h(Badge, { children: 'ABI unknown' }),
    children: html`
      ${
        decoded !== null &&
        html`<p class="row">
          <code>${clipped(decoded.method_call, CALL_CHARACTERS)}</code><span class="small">0x${decoded.method_id}</span>
        </p>
        ${
          decoded.parameters.length > 0 &&
          h(DecodedParameters, { chainId, label: 'Arguments', parameters: decoded.parameters })
        }`
      }
      ${
        hasRaw &&
        html`<details open=${decoded === null}>
          <summary>Raw input data</summary>
          ${h(CodeText, { label: 'Raw input data', value: raw })}
        </details>`
      }
    `,
  });
}

/** Fee of a transaction, with the parts of its gas price. */
function TransactionFee({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  const { fee, gas_used, gas_limit, transaction_burnt_fee, priority_fee } = transaction;
  const coin = (amount: string | null): ComponentChildren =>
    amount !== null && h(CoinAmount, { chainId, amount, rate: transaction.exchange_rate });
  const price = (amount: string | null): ComponentChildren => amount !== null && h(GasPrice, { amount });
  return h(Card, {
    title: 'Gas and fees',
    children: h(Facts, {
      rows: [
        [fee.type === 'actual' ? 'Transaction fee' : 'Maximum transaction fee', coin(fee.value)],
        ['Burnt fees', coin(transaction_burnt_fee)],
        ['Priority fee', coin(priority_fee)],
        ['Gas used', gas_used !== null && h(GasUsed, { used: gas_used, limit: gas_limit })],
        ['Gas limit', gas_used === null && grouped(gas_limit)],
        ['Gas price', price(transaction.gas_price)],
        ['Base fee per gas', price(transaction.base_fee_per_gas)],
        ['Max fee per gas', price(transaction.max_fee_per_gas)],
        ['Max priority fee per gas', price(transaction.max_priority_fee_per_gas)],
      ],
    }),
  });
}
