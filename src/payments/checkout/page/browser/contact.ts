import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { httpsOnly } from './offer.ts';
import { useTexts } from './texts.ts';

/** Ways to reach a merchant. */
export type ContactFacts = Pick<
  components['schemas']['Merchant'],
  'name' | 'contact_email' | 'site_url' | 'terms_url'
>;

/** Ways to reach the merchant, next to a text that advises to ask (Decision 444); null for none. */
export function Contact({ merchant }: { merchant: ContactFacts }): VNode | null {
  const { page } = useTexts();
  const { name, contact_email: email, site_url: site } = merchant;
  const ways = [emailLink(email), siteLink(site)].filter(way => way !== null);
  if (ways.length === 0) return null;
  return html`<p class="contact">${page.contact(name)} ${separated(ways)}</p>`;
}

/** The same ways and the terms of sale, below every page. */
export function ContactLinks({ merchant }: { merchant: ContactFacts }): VNode | null {
  const { page } = useTexts();
  const { contact_email: email, site_url: site, terms_url: given } = merchant;
  const terms = httpsOnly(given);
  const ways = [
    emailLink(email),
    siteLink(site),
    terms === null ? null : html`<a href=${terms} rel="noreferrer">${page.terms}</a>`,
  ].filter(way => way !== null);
  return ways.length === 0 ? null : html`<p>${merchant.name}: ${separated(ways)}</p>`;
}

function emailLink(email: string | null): VNode | null {
  return email === null ? null : html`<a href=${`mailto:${encodeURI(email)}`}>${email}</a>`;
}

function siteLink(given: string | null): VNode | null {
  const url = httpsOnly(given);
  return url === null ? null : html`<a href=${url} rel="noreferrer">${new URL(url).host}</a>`;
}

function separated(ways: readonly VNode[]) {
  return ways.map((way, index) => html`${index > 0 && ' · '}${way}`);
}
