import { html } from 'htm/preact';
import { secondsText } from '#contract/contracts/payments-errors.ts';
import type { Assets } from '#pages/assets.ts';
import { pageText } from './document.ts';

/** Says in a few words why there is nothing to pay. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}

/** There is nothing at this address, or not any more: why is not told. */
export const NOT_FOUND: Notice = {
  title: 'This page does not exist',
  text: 'Check the address for a missing character, or ask whoever sent it to you for a new one. Nothing was paid.',
};

/** Something went wrong here. */
export const BROKEN: Notice = {
  title: 'This page cannot be shown at the moment',
  text: 'Please try again in a minute. What you have paid already is safe: payments are read from the network itself.',
};

/** One address has asked for more pages than it may. */
export function tooManyPages(seconds: number): Notice {
  return {
    title: 'Please wait a moment',
    text: `Too many pages were asked for from your network. Please try again in ${secondsText(seconds)}. What you have paid already is safe: payments are read from the network itself.`,
  };
}

/** The operator does not take payments in the link's token any more. */
export const UNAVAILABLE: Notice = {
  title: 'This cannot be paid at the moment',
  text: 'Payments in this token are not taken any more. Please ask the merchant for another way to pay.',
};

/** The operator does not take payments in the session's token any more: what it asked for cannot be told. */
export const CLOSED: Notice = {
  title: 'This checkout cannot be shown any more',
  text: 'Payments in its token are not taken any more, so please send nothing. What was paid before is on record; please ask the merchant about it.',
};

export function noticePage(assets: Assets, { title, text }: Notice): string {
  return pageText(
    { title, assets, themeColor: null, isTest: false },
    html`<main class="notice" id="payment"><h1>${title}</h1><p>${text}</p></main>`,
  );
}
