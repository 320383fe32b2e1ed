import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { useTexts } from '../texts.ts';
import type { FoundWallets } from './found-wallets.ts';
import type { Wallet } from './wallet-provider.ts';

const PICTURE = /^data:image\//;

/** Text about a payment, with its colour. */
export interface WalletMessage {
  readonly text: string;
  readonly tone: 'calm' | 'busy' | 'good' | 'bad';
}

/** Wallets that can pay a session, and the progress of their payment. */
export interface WalletOffer extends FoundWallets {
  /** True while a payment is being made or is on its way, which prevents a second one. */
  readonly isLocked: boolean;
  /** About the payment, and about the signature for an earlier one. */
  readonly message: WalletMessage | undefined;
  readonly proof: WalletMessage | undefined;
  readonly pay: (wallet: Wallet) => void;
  /** Lets a wallet sign that it sent a payment which has arrived. */
  readonly prove: (wallet: Wallet) => void;
}

/** Offer of the server, which knows no wallets. */
export const NO_WALLETS: WalletOffer = {
  wallets: [],
  isSearched: false,
  isLocked: false,
  message: undefined,
  proof: undefined,
  pay: () => undefined,
  prove: () => undefined,
};

interface WalletWayProps {
  /** Text of the button, and the amount that the wallet sends. */
  readonly label: string;
  readonly owed: string;
  /** True when the page has a QR code above. */
  readonly hasCode: boolean;
  readonly wallets: WalletOffer;
}

/** Payment with a wallet of this browser: a button for one wallet, a list for several, and a hint for none. */
export function WalletWay({ label, owed, hasCode, wallets: offer }: WalletWayProps): VNode {
  const { ways } = useTexts();
  const { wallets, isLocked, message, pay } = offer;
  const [isOpen, setOpen] = useState(false);
  const [first] = wallets;
  const list = useId();
  const hasSeveral = wallets.length > 1;
  const pressed = () => {
    if (hasSeveral) setOpen(!isOpen);
    else if (first !== undefined) pay(first);
  };
  const { text, tone } = message ?? { text: hintOf(offer, hasCode, ways), tone: undefined };
  return html`<section class=${first === undefined ? 'way no-wallet' : 'way'} aria-labelledby="wallet-title">
    <h2 id="wallet-title">${ways.wallet}</h2>
    <noscript>
      <p class="note">${ways.walletScripts}</p>
    </noscript>
    <button
      class="primary"
      type="button"
      id="pay"
      disabled=${isLocked}
      hidden=${first === undefined}
      aria-expanded=${hasSeveral ? String(isOpen) : undefined}
      aria-controls=${hasSeveral ? list : undefined}
      onClick=${pressed}
    >
      <span>${label}</span> <span class="button-amount">${owed}</span>
    </button>
    ${hasSeveral && isOpen && h(WalletList, { id: list, wallets, isLocked, pay })}
    <p class="wallet-status" id="wallet-status" role="status" data-tone=${tone}>${text}</p>
  </section>`;
}

function WalletList({
  id,
  wallets,
  isLocked,
  pay,
}: Pick<WalletOffer, 'wallets' | 'isLocked' | 'pay'> & { id: string }): VNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('button')?.focus(), []);
  return html`<ul class="wallets" id=${id} ref=${list}>
    ${wallets.map(
      wallet => html`<li key=${wallet.id}>
        <button type="button" class="wallet" disabled=${isLocked} onClick=${() => pay(wallet)}>
          ${
            // A drawing in an image runs no script.
            PICTURE.test(wallet.icon) && html`<img src=${wallet.icon} alt="" width="28" height="28" />`
          }
          ${wallet.name}
        </button>
      </li>`,
    )}
  </ul>`;
}

/** Text below the button while no payment is being made. */
function hintOf({ wallets, isSearched }: FoundWallets, hasCode: boolean, ways: Texts['ways']): string {
  const [first, second] = wallets;
  if (first !== undefined) return second === undefined ? ways.withWallet(first.name) : '';
  if (!isSearched) return '';
  return `${ways.noWallet} ${hasCode ? ways.useCode : ways.openPage}`;
}
