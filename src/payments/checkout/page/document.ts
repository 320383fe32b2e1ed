import type { Assets } from '#pages/assets.ts';
import { type Html, html, type Piece, textOf } from './parts/html.ts';
import { themeName } from './theme.ts';

/** Name of the module that runs in every page, as in `Assets`. */
export const SCRIPT = '#payments/checkout/page/browser/checkout.js';
const STYLES = ['#pages/browser/tokens.css', '#payments/checkout/page/browser/checkout.css'];

/** What stands around the content of a page. */
export interface PageFrame {
  readonly title: string;
  readonly assets: Assets;
  /** Of the merchant; null for the page's own. */
  readonly themeColor: string | null;
  /** Whether the money is worth nothing. */
  readonly isTest: boolean;
  /** Seconds after which a browser without scripts asks again; undefined for never. */
  readonly refreshSeconds?: number | undefined;
}

/** A whole page. Its content brings its own `main`. */
export function pageText(frame: PageFrame, content: Html): string {
  const { title, assets, isTest, refreshSeconds } = frame;
  const theme = themeName(frame.themeColor);
  const sheets = STYLES.map(
    name => html`<link rel="stylesheet" href="${assets.path(name)}">
`,
  );
  const preloads = assets.modulesOf(SCRIPT).map(
    address => html`<link rel="modulepreload" href="${address}">
`,
  );
  return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${assets.path('#pages/browser/icon.svg')}">
${sheets}${theme !== undefined && html`<link rel="stylesheet" href="/pay/theme/${theme}.css">`}
${preloads}<script type="module" src="${assets.path(SCRIPT)}"></script>
${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}
</head>
<body>
<a class="skip" href="#payment">Skip to the payment</a>
${isTest && testBanner()}
${content}
<footer class="foot"><p>Payments go straight from your wallet to the merchant and cannot be called back.</p></footer>
</body>
</html>
`);
}

function testBanner(): Piece {
  return html`<p class="test-banner" role="note"><strong>Test payment.</strong> The coins of this network are worth nothing.</p>`;
}
