import { html } from 'htm/preact';
import { secondsText } from '#contract/contracts/payments-errors.ts';
import type { Assets } from '#pages/assets.ts';
import { pageText } from './document.ts';

/** Short explanation of a page without a payment. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}

/** Notice for an unknown or removed page. It does not say which. */
export const NOT_FOUND: Notice = {
  title: 'This page does not exist',
  text: 'Check the address for a missing character, or ask the sender for a new one. Nothing was paid.',
};

/** Notice for a fault of the server. */
export const BROKEN: Notice = {
  title: 'This page cannot be shown at the moment',
  text: 'Please try again in a minute. What you have paid already is safe: payments are read from the network itself.',
};

/** Notice for a client address beyond its limit of pages. */
export function tooManyPages(seconds: number): Notice {
  return {
    title: 'Please wait a moment',
    text: `Too many pages were requested from your network. Please try again in ${secondsText(seconds)}. What you have paid already is safe: payments are read from the network itself.`,
  };
}

/** Notice for a link whose token is no longer configured. */
export const UNAVAILABLE: Notice = {
  title: 'This cannot be paid at the moment',
  text: 'Payments in this token are no longer accepted. Please ask the merchant for another way to pay.',
};

/** Notice for a session whose token is no longer configured, so that its amounts cannot be shown. */
export const CLOSED: Notice = {
  title: 'This checkout can no longer be shown',
  text: 'Payments in its token are no longer accepted, so please send nothing. Earlier payments are on record; please ask the merchant about them.',
};

export function noticePage(assets: Assets, { title, text }: Notice): string {
  return pageText(
    { title, assets, themeColor: null, isTest: false },
    html`<main class="notice" id="payment"><h1>${title}</h1><p>${text}</p></main>`,
  );
}
