import type { CheckoutState, FollowedSession } from './api.ts';
import { untoldHash } from './claim.ts';
import { type MessageTone, payByWallet, SENT } from './wallet-payment.ts';
import { fieldOf, isProvider, type Wallet } from './wallet-provider.ts';

/** Time for wallets to announce themselves, in milliseconds. After it the page says that there is none. */
const ANNOUNCED_WITHIN_MS = 800;
const PICTURE = /^data:image\//;

/** Wallets by the id that each gives itself. */
const wallets = new Map<string, Wallet>();
let isPaying = false;
/** True while a payment is on its way, which prevents a second one before the server knows of the first. */
let isSent = false;
/** Last outcome of earlier payments that the server reported. */
let knownOutcome = '';
let isSearched = false;

/** Finds the wallets of this browser and offers them to the payer. */
export function offerWallets(session: FollowedSession): void {
  addEventListener('eip6963:announceProvider', event => {
    const detail = fieldOf(event, 'detail');
    const info = fieldOf(detail, 'info');
    const provider = fieldOf(detail, 'provider');
    const id = fieldOf(info, 'uuid');
    if (typeof id !== 'string' || !isProvider(provider)) return;
    wallets.set(id, { name: String(fieldOf(info, 'name')), icon: String(fieldOf(info, 'icon')), provider });
    draw(session);
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    isSearched = true;
    // Older wallets do not announce themselves. Source: EIP-1193.
    const provider = fieldOf(window, 'ethereum');
    if (wallets.size === 0 && isProvider(provider)) {
      wallets.set('window', { name: 'your wallet', icon: '', provider });
    }
    draw(session);
  }, ANNOUNCED_WITHIN_MS);
  isSent = untoldHash(session) !== null;
  knownOutcome = outcomeOf(session.state());
  if (isSent) tell(SENT, 'good');
  document.addEventListener('decorated', () => {
    const outcome = outcomeOf(session.state());
    if (outcome !== knownOutcome && outcome !== '') isSent = false;
    knownOutcome = outcome;
    draw(session);
  });
}

/**
 * Failed or partial outcome of the payments so far, after which the payer may pay again; empty otherwise. A claim alone
 * does not change it.
 */
function outcomeOf({
  payment_status: status,
  amount_received: received,
  tx_hash: hash,
}: CheckoutState): string {
  if (status === 'failed') return `failed ${hash}`;
  return status === 'underpaid' ? `underpaid ${received}` : '';
}

/** Shows a button for one wallet, a list for several, and a hint for none. */
function draw(session: FollowedSession): void {
  const button = document.querySelector<HTMLButtonElement>('#pay');
  const list = document.getElementById('wallets');
  if (button === null || list === null) return;
  const found = [...wallets.values()];
  const [first] = found;
  button.disabled = isPaying || isSent || first === undefined;
  button.hidden = isSearched && first === undefined;
  if (first === undefined) {
    if (isSearched) tell(`No wallet was found in this browser. ${otherWays()}`);
    return;
  }
  if (!isPaying && document.getElementById('wallet-status')?.dataset.tone === undefined) {
    tell(found.length === 1 ? `With ${first.name}` : '');
  }
  button.onclick = () => (found.length === 1 ? pay(session, first) : choose(button, list));
  if (found.length > 1 && !button.hasAttribute('aria-expanded')) {
    button.setAttribute('aria-expanded', 'false');
    button.setAttribute('aria-controls', list.id);
  }
  list.replaceChildren(...found.map(wallet => entry(session, wallet)));
}

function otherWays(): string {
  return document.querySelector('.qr') === null
    ? 'Please open this page in your wallet.'
    : 'Use the code below, or open this page in your wallet.';
}

function choose(button: HTMLButtonElement, list: HTMLElement): void {
  list.hidden = !list.hidden;
  button.setAttribute('aria-expanded', String(!list.hidden));
  if (!list.hidden) list.querySelector('button')?.focus();
}

function entry(session: FollowedSession, wallet: Wallet): HTMLLIElement {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'wallet';
  button.disabled = isPaying || isSent;
  if (PICTURE.test(wallet.icon)) {
    const image = document.createElement('img'); // a drawing in an image runs no script
    Object.assign(image, { src: wallet.icon, alt: '', width: 28, height: 28 });
    button.append(image);
  }
  button.append(wallet.name);
  button.onclick = () => pay(session, wallet);
  item.append(button);
  return item;
}

async function pay(session: FollowedSession, wallet: Wallet): Promise<void> {
  const owed = document.getElementById('wallet')?.dataset.amount;
  if (isPaying || isSent || owed === undefined) return;
  isPaying = true;
  draw(session);
  try {
    const outcome = await payByWallet({ ...session, provider: wallet.provider, amount: BigInt(owed), tell });
    isSent = outcome.isSent;
    tell(outcome.text, outcome.tone);
  } finally {
    isPaying = false;
    draw(session);
  }
}

/** Shows the progress of the payment next to its button. A text without a tone is only a hint. */
function tell(text: string, tone?: MessageTone): void {
  const element = document.getElementById('wallet-status');
  if (element === null) return;
  if (tone === undefined) delete element.dataset.tone;
  else element.dataset.tone = tone;
  if (element.textContent !== text) element.textContent = text;
}
