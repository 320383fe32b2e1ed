import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import type { Explorer } from '../api.ts';
import { CoinAmount } from '../records/coin.ts';
import { GasPrice, GasUsed } from '../records/gas.ts';

type Transaction = Explorer['Transaction'];

/** Fee of a transaction, with the parts of its gas price. */
export function TransactionFee({
  chainId,
  transaction,
}: {
  chainId: number;
  transaction: Transaction;
}): VNode {
  const { fee, gas_used, gas_limit, transaction_burnt_fee, priority_fee } = transaction;
  const coin = (amount: string | null): ComponentChildren =>
    amount !== null && html`<${CoinAmount} chainId=${chainId} amount=${amount} />`;
  const price = (amount: string | null): ComponentChildren =>
    amount !== null && html`<${GasPrice} amount=${amount} />`;
  return html`<${Card} title="Fee">
    <${Facts}
      rows=${[
        [fee.type === 'actual' ? 'Fee' : 'Fee at most', coin(fee.value)],
        ['Burnt', coin(transaction_burnt_fee)],
        ['To the miner', coin(priority_fee)],
        ['Gas used', gas_used !== null && html`<${GasUsed} used=${gas_used} limit=${gas_limit} />`],
        ['Gas limit', gas_used === null && grouped(gas_limit)],
        ['Price per gas', price(transaction.gas_price)],
        ['Base fee per gas', price(transaction.base_fee_per_gas)],
        ['Max fee per gas', price(transaction.max_fee_per_gas)],
        ['Max priority fee per gas', price(transaction.max_priority_fee_per_gas)],
      ]}
    />
  <//>`;
}
