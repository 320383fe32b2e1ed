import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { plainUnits, smallestUnits } from '#pages/browser/amounts.ts';
import { answerOf } from '#pages/browser/answer.ts';
import { ChangeForm, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Problem } from '#pages/browser/problem.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount, type Chains, useChains } from '../chains.ts';
import { SweepTransactions } from './sweep-transactions.ts';

type Plan = Payments['SweepPlan'];
type Chain = Chains[number];

const COIN = '0x0000000000000000000000000000000000000000';

/** Reasons for which an address is left out, after its number. */
const REASONS: Readonly<Record<Plan['left_out'][number]['reason'], string>> = {
  session_open: 'whose checkout is still open',
  below_minimum: 'below the minimum',
  costs_more: 'with less than their share of the fee',
  not_payable: 'with nothing now, or whose token or recipient refuses',
};

interface SweepCardProps {
  /** Addresses that are ticked; empty for all with money. */
  readonly chosen: readonly string[];
  readonly swept: () => void;
}

/** Form that prepares a sweep on one chain, and its transactions for a wallet. */
export function SweepCard({ chosen, swept }: SweepCardProps): VNode | null {
  const chains = useChains() ?? [];
  const [chainId, setChainId] = useState('');
  const [minimum, setMinimum] = useState('');
  const [token, setToken] = useState('');
  const [plan, setPlan] = useState<Plan>();
  const change = useChange();
  const [first] = chains;
  if (first === undefined) return null;
  const chain = chains.find(({ id }) => String(id) === chainId) ?? first;
  const minimumToken = chain.tokens.find(({ address }) => address === token) ?? chain.tokens[0];
  const prepare = () =>
    change.run(async () => {
      setPlan(undefined);
      const params = { header: { 'Idempotency-Key': idempotencyKey() } };
      const body = {
        chain_id: chain.id,
        ...(chosen.length > 0 && { addresses: [...chosen] }),
        ...minimumsOf(minimum, minimumToken),
      };
      setPlan((await answerOf(api.POST('/api/v1/deposit-addresses/sweep', { params, body }))).data);
    });
  return h(Card, {
    title: 'Sweep',
    children: html`
      ${h(ChangeForm, {
        label: 'Sweep',
        action: chosen.length === 0 ? 'Prepare a sweep of all' : `Prepare a sweep of ${chosen.length}`,
        change,
        onSubmit: () => void prepare(),
        children: html`
          ${h(SelectField<string>, {
            label: 'Chain',
            param: 'chain_id',
            value: String(chain.id),
            options: chains.map(({ id, name }) => [String(id), name] as const),
            onValue: setChainId,
          })}
          ${h(SelectField<string>, {
            label: 'Leave small amounts of',
            param: 'token',
            value: minimumToken?.address ?? '',
            options: chain.tokens.map(({ address, symbol }) => [address, symbol] as const),
            onValue: setToken,
          })}
          ${h(TextField, {
            label: 'below',
            param: 'minimums.0.amount',
            value: minimum,
            inputMode: 'decimal',
            unit: minimumToken?.symbol ?? '',
            hint: 'Without an amount, only coins that are worth less than their share of the fee are left.',
            onValue: setMinimum,
          })}
        `,
      })}
      ${plan !== undefined && h(ShownPlan, { plan, chain, swept })}
    `,
  });
}

function minimumsOf(text: string, token: Payments['PaymentToken'] | undefined) {
  if (text.trim() === '' || token === undefined) return {};
  const units = smallestUnits(text, token.decimals);
  if (units === undefined)
    throw new Problem(`The 'minimums.0.amount' field must be an amount of ${token.symbol}.`, {
      param: 'minimums.0.amount',
    });
  return { minimums: [{ token_address: token.address, amount: units.toString() }] };
}

function ShownPlan({ plan, chain, swept }: { plan: Plan; chain: Chain; swept: () => void }): VNode {
  const { transactions, left_out, has_more } = plan;
  const fee = transactions.reduce((sum, one) => sum + BigInt(one.fee), 0n);
  const left = Map.groupBy(left_out, ({ reason }) => reason);
  if (transactions.length === 0)
    return html`
      <p role="status">Nothing to sweep on ${chain.name}${has_more && ` among the ${left_out.length} addresses with the oldest money`}.</p>
      ${h(LeftOut, { left })}
      ${has_more && html`<p class="small">More addresses have money. Choose them in the list to sweep them.</p>`}
    `;
  return html`
    <div role="status">
      ${h(Facts, {
        rows: [
          ['Addresses', String(transactions.reduce((sum, { items }) => sum + items.length, 0))],
          ...totalsOf(plan).map(
            ([token_address, units]) =>
              [
                'Pays',
                h(Amount, { units: units.toString(), of: { chain_id: chain.id, token_address } }),
              ] as const,
          ),
          [
            'Fee now, about',
            h(Amount, { units: fee.toString(), of: { chain_id: chain.id, token_address: COIN } }),
          ],
          ['Price of gas now', `${plainUnits(BigInt(plan.gas_price), 9)} gwei`],
        ],
      })}
    </div>
    ${h(LeftOut, { left })}
    ${has_more && html`<p class="small">More addresses have money. Prepare another sweep when this one is confirmed.</p>`}
    ${h(SweepTransactions, { chain, transactions, swept })}
  `;
}

function LeftOut({
  left,
}: {
  left: ReadonlyMap<Plan['left_out'][number]['reason'], Plan['left_out']>;
}): VNode {
  return html`${[...left].map(
    ([reason, some]) =>
      html`<p class="small">Left out: ${some.length} ${some.length === 1 ? 'address' : 'addresses'} ${REASONS[reason]}.</p>`,
  )}`;
}

/** Sums by token. */
function totalsOf({ transactions }: Plan): [token: string, units: bigint][] {
  const totals = new Map<string, bigint>();
  for (const { token_address, amount } of transactions.flatMap(({ items }) => items))
    totals.set(token_address, (totals.get(token_address) ?? 0n) + BigInt(amount));
  return [...totals];
}
