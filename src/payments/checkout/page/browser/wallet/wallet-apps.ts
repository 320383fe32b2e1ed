import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useTexts } from '../texts.ts';

interface WalletApp {
  readonly name: string;
  /** Link that opens a page in the browser of the app. It leads to a store if the app is not installed. */
  readonly opening: (page: URL) => string;
}

/** Sources: the wallets' documents on links into their apps. */
const APPS: readonly WalletApp[] = [
  {
    name: 'MetaMask',
    opening: ({ host, pathname }) => `https://metamask.app.link/dapp/${host}${pathname}`,
  },
  {
    name: 'Coinbase Wallet',
    opening: page => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page.href)}`,
  },
  {
    name: 'Trust Wallet',
    opening: page => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page.href)}`,
  },
  {
    name: 'Rainbow',
    opening: page => `https://rnbwapp.com/dapp?url=${encodeURIComponent(page.href)}`,
  },
];

interface WalletAppsProps {
  /** Request of the payment; undefined when only a wallet that signs can pay. */
  readonly uri: string | undefined;
  /** Address of the page. */
  readonly pageUrl: string;
}

/** Ways into the wallet apps of a touch device, which the style sheet hides elsewhere (Decision 443). */
export function WalletApps({ uri, pageUrl }: WalletAppsProps): VNode {
  const { ways } = useTexts();
  const page = new URL(pageUrl);
  return html`<section class="way touch" aria-labelledby="apps-title">
    <h2 id="apps-title">${ways.apps}</h2>
    ${uri !== undefined && html`<a class="primary" id="open-wallet" href=${uri}>${ways.openWallet}</a>`}
    <p class="note">${uri === undefined ? ways.openIn : ways.nothingOpens}</p>
    <ul class="apps">
      ${APPS.map(
        ({ name, opening }) =>
          html`<li key=${name}><a class="secondary" href=${opening(page)} rel="noreferrer">${name}</a></li>`,
      )}
    </ul>
  </section>`;
}
