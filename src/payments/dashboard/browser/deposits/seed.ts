import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Download } from '../session/download.ts';

/** Download of the seed, with what it can do. */
export function SeedExport(): VNode {
  return h(Card, {
    title: 'Seed',
    children: html`
      <p>
        The seed can move nothing. Whoever has it and your recipient finds and sweeps every address without our database:
        keep a copy outside of this service. <code>tollgate sweep --seed FILE</code> reads it.
      </p>
      <p>${h(Download, { path: 'deposit-addresses/seed', file: 'deposit-seed.json', label: 'Download the seed' })}</p>
    `,
  });
}
