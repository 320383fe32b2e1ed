import { type Html, html } from './html.ts';

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in words. The script writes it anew in the payer's own zone. */
export function momentText(iso: string): Html {
  return html`<time datetime="${iso}" data-moment>${FORMAT.format(new Date(iso))} UTC</time>`;
}
