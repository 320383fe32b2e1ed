import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { decimalsIn, GWEI_DECIMALS, grouped, shortUnits, wholeUnits } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';

/**
 * Amount in whole units. If it is too long for a glance, its short form is painted over the exact one, which the title,
 * screen readers and copies have (Decision 418). A text cannot do that: who copies a cell would get a wrong amount.
 */
export function Units({ amount, decimals }: { amount: string | bigint; decimals: number }): VNode {
  const [short, exact] = [shortUnits(amount, decimals), wholeUnits(amount, decimals)];
  if (short === exact) return html`<span class="units">${exact}</span>`;
  return html`<span class="units short" data-short=${short} title=${exact}><span>${exact}</span></span>`;
}

/** Amount of a token. A token with incredible decimals has its amount in smallest units, and says so. */
export function TokenUnits({
  amount,
  decimals: text,
  symbol,
}: {
  amount: string | bigint;
  decimals: string | null;
  symbol?: string | undefined;
}): VNode {
  const decimals = decimalsIn(text);
  const unit = symbol !== undefined && html`<bdi class="symbol" title=${symbol}>${symbol}</bdi>`;
  if (decimals !== undefined) return html`<span>${h(Units, { amount, decimals })} ${unit}</span>`;
  const title = `The token claims to have ${grouped(text ?? '')} decimals, which cannot be believed.`;
  return html`<span>${h(Units, { amount, decimals: 0 })} ${unit} <span class="worth" title=${title}>in smallest units</span></span>`;
}

const SMALLEST_WITH_CENTS = 1;
const DIGITS = 4;
const CENT = 0.01;
/** From here on an amount of dollars is no price of anything, and its digits would only stretch the page. */
const LARGEST = 1e15;

/** Value of an amount in smallest units at the price of one whole unit. Rounded, like the price. */
export function worth(units: string | bigint, decimals: number, price: number): number {
  return Number(wholeUnits(units, decimals).replaceAll(',', '').replace('−', '-')) * price;
}

/** Formats US dollars: cents from one dollar up, four significant digits below; `compact` ends in K, M or B. */
export function dollars(amount: number, notation: 'standard' | 'compact' = 'standard'): string {
  const digits =
    Math.abs(amount) >= LARGEST
      ? { notation: 'scientific' as const, maximumSignificantDigits: DIGITS }
      : notation === 'compact'
        ? { notation, maximumSignificantDigits: DIGITS }
        : Math.abs(amount) >= SMALLEST_WITH_CENTS || amount === 0
          ? { maximumFractionDigits: 2 }
          : { maximumSignificantDigits: DIGITS };
  return amount.toLocaleString('en', { style: 'currency', currency: 'USD', ...digits });
}

/** Value of an amount at the rate of today, marked as such (Decision 422). Renders nothing without a rate. */
export function Worth({
  amount,
  decimals,
  rate,
}: {
  amount: string | bigint;
  decimals: number;
  rate: string | number | null | undefined;
}): VNode | null {
  const price = Number(rate ?? Number.NaN);
  if (!(price > 0) || !Number.isFinite(price)) return null;
  const value = worth(amount, decimals, price);
  const text = value !== 0 && Math.abs(value) < CENT ? `< ${dollars(CENT)}` : dollars(value);
  return html`<span class="worth" title=${`At today’s rate of ${dollars(price)}, not that of the time`}>${text}<span class="visually-hidden"> at today’s rate</span></span>`;
}

/** Gas price in Gwei, given in wei. */
export function GasPrice({ amount }: { amount: string | bigint }): VNode {
  return html`<span>${h(Units, { amount, decimals: GWEI_DECIMALS })} Gwei</span>`;
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
