import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { GWEI_DECIMALS, grouped, wholeUnits } from '#pages/browser/amounts.ts';

/** Exact gas price in Gwei, given in wei. */
export function GasPrice({ amount }: { amount: string | bigint }): VNode {
  return html`<span>${wholeUnits(amount, GWEI_DECIMALS)} Gwei</span>`;
}

/** Gas used and its limit, as numbers and as a bar. */
export function GasUsed({
  used,
  limit,
}: {
  used: string | number | bigint;
  limit: string | number | bigint;
}): VNode {
  const share = Number(limit) === 0 ? 0 : (Number(used) / Number(limit)) * 100;
  return html`<span class="measured">
    <span>${grouped(used)} of ${grouped(limit)} (${share.toFixed(2)} %)</span>
    <progress max="100" value=${share} aria-label="Gas utilization"></progress>
  </span>`;
}
