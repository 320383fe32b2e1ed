import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { boxText, Problem } from '#pages/browser/problem.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { useFoundWallets } from '#payments/checkout/page/browser/wallet/found-wallets.ts';
import type { Wallet } from '#payments/checkout/page/browser/wallet/wallet-provider.ts';
import {
  connectedAccounts,
  signatureOf,
  signingFailure,
} from '#payments/checkout/page/browser/wallet/wallet-transfer.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';

type Recipient = Payments['Recipient'];

interface VerifyRecipientProps {
  readonly recipient: Recipient;
  readonly onDone: (said: string) => void;
}

/** Button and dialog to prove an address by a signature, of a wallet of this browser or one that is typed. */
export function VerifyRecipient({ recipient, onDone }: VerifyRecipientProps): VNode {
  const [signature, setSignature] = useState('');
  const [wasOpened, setOpened] = useState(false);
  const { id, address, verification_message: message } = recipient;
  const verify = async (given: string) => {
    const params = { path: { recipient_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
    const body = { signature: given.trim() };
    await answerOf(api.POST('/api/v1/recipients/{recipient_id}/verify', { params, body }));
    onDone('The address is verified.');
  };
  const signed = async (given: string) => {
    // The signature stays in its field, so that it can be sent again if the server cannot be reached.
    setSignature(given);
    await verify(given);
  };
  return h(DialogButton, {
    label: 'Verify',
    title: 'Verify that this address is yours',
    action: 'Verify',
    onOpen: () => setOpened(true),
    onConfirm: () => verify(signature),
    children: html`
      <p>
        Sign this text with <code>${address}</code>. It moves no money.
        ${h(CopyButton, { text: message, label: 'Copy the text to sign' })}
      </p>
      <pre tabindex="0">${message}</pre>
      ${wasOpened && h(WalletSignature, { recipient, signed })}
      ${h(TextField, {
        label: 'Signature',
        param: 'signature',
        type: 'textarea',
        value: signature,
        placeholder: '0x…',
        hint: html`Signed elsewhere, for example with <code>cast wallet sign</code>? Paste the signature.`,
        isRequired: true,
        onValue: setSignature,
      })}
    `,
  });
}

interface WalletSignatureProps {
  readonly recipient: Recipient;
  /** Sends a signature. @throws Problem when it is refused */
  readonly signed: (signature: string) => Promise<void>;
}

/** A button for each wallet of this browser, which lets it sign. */
function WalletSignature({ recipient, signed }: WalletSignatureProps): VNode {
  const { wallets, isSearched } = useFoundWallets();
  const [said, setSaid] = useState('');
  // At once, where a state changes with the next rendering: a wallet is asked once.
  const isBusy = useRef(false);
  const sign = async ({ provider }: Wallet) => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      setSaid('Allow the connection in your wallet.');
      const accounts = await connectedAccounts(provider);
      const account = accounts.find(one => one.toLowerCase() === recipient.address.toLowerCase());
      if (account === undefined) {
        setSaid(otherAccount(recipient, accounts[0]));
        return;
      }
      setSaid('Sign the text in your wallet.');
      const signature = await signatureOf(provider, account, recipient.verification_message);
      setSaid('Signed. Checking the signature…');
      await signed(signature);
    } catch (error) {
      setSaid(error instanceof Problem ? boxText(error, false) : await walletWords(error));
    } finally {
      isBusy.current = false;
    }
  };
  return html`
    <div class="row">
      ${wallets.map(
        wallet =>
          html`<button type="button" key=${wallet.id} onClick=${() => void sign(wallet)}>Sign with ${wallet.name}</button>`,
      )}
      ${isSearched && wallets.length === 0 && html`<span class="small">No wallet was found in this browser.</span>`}
    </div>
    <p role="status">${said}</p>
  `;
}

function otherAccount({ address }: Recipient, connected: string | undefined): string {
  const instead = connected === undefined ? 'no account' : `the account ${connected}`;
  return `Your wallet connected ${instead}. Only ${address} can sign: connect it in the wallet and try again.`;
}

async function walletWords(error: unknown): Promise<string> {
  const { ENGLISH } = await import('#payments/browser/languages/en.ts');
  return signingFailure(error, ENGLISH);
}
