import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Assets, JoinedStyles } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { BASE_STYLES, documentText } from '#pages/document.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { directionOf } from '#payments/browser/languages/languages.ts';
import { type ContactFacts, ContactLinks } from './browser/contact.ts';
import { PageTexts } from './browser/texts.ts';
import { themeName } from './browser/theme.ts';

/** Modules that render the pages again in the browser, as in `Assets`. */
export const SCRIPTS = {
  link: '#payments/checkout/page/browser/link/link.ts',
  session: '#payments/checkout/page/browser/session/session.ts',
} as const;
const STYLE = '#payments/pay.css';

/** Style sheet of the pages of payers. */
export const PAY_STYLE: JoinedStyles = {
  [STYLE]: [...BASE_STYLES, '#payments/checkout/page/browser/checkout.css'],
};

/** Parts of a page around its content. */
export interface PageFrame {
  readonly title: string;
  readonly texts: Texts;
  readonly assets: Assets;
  /** Module that runs in the page; undefined for none. */
  readonly script?: string | undefined;
  /** Colour of the merchant; null for the default. */
  readonly themeColor: string | null;
  /** True when the payment is a test. */
  readonly isTest: boolean;
  /** Seconds after which the browser reloads the page; undefined for never. */
  readonly refreshSeconds?: number | undefined;
  /** True when the script keeps the page up to date, so that only a browser without scripts reloads it. */
  readonly isFollowed?: boolean;
  /** Merchant, for the ways to reach them; absent where none is known. */
  readonly merchant?: ContactFacts;
  /** True when payments go to a deposit address. */
  readonly isDeposit?: boolean;
}

/** HTML of a page. The content includes its own `main`. */
export function pageText(frame: PageFrame, content: VNode): string {
  const {
    title,
    texts,
    assets,
    script,
    isTest,
    refreshSeconds,
    merchant,
    isFollowed = false,
    isDeposit = false,
  } = frame;
  const refresh =
    refreshSeconds !== undefined && html`<meta http-equiv="refresh" content=${refreshSeconds} />`;
  const theme = themeName(frame.themeColor);
  const { page, language } = texts;
  const preloaded = script && assets.path(`#payments/browser/languages/${language}.ts`);
  const footer = h(PageTexts.Provider, {
    value: texts,
    children: html`<footer class="foot">
        <p>${page.direct(isDeposit)}</p>
        ${merchant !== undefined && h(ContactLinks, { merchant })}
      </footer>`,
  });
  return documentText({
    title,
    language: { code: language, direction: directionOf(texts) },
    assets,
    style: STYLE,
    script,
    head: html`
      <meta name="robots" content="noindex, nofollow" />
      ${theme !== undefined && html`<link rel="stylesheet" href=${`/pay/theme/${theme}.css`} />`}
      ${preloaded && html`<link rel="modulepreload" href=${preloaded} />`}
      ${refresh && isFollowed ? html`<noscript>${refresh}</noscript>` : refresh}
    `,
    body: html`
      <a class="skip" href="#payment">${page.skip}</a>
      ${isTest && testBanner(texts)}
      ${h(PageTexts.Provider, { value: texts, children: content })}
      ${footer}
    `,
  });
}

function testBanner({ page }: Texts): VNode {
  return html`<aside class="test-banner" aria-label=${page.testLabel}><p><strong>${page.test}</strong> ${page.testNote}</p></aside>`;
}
