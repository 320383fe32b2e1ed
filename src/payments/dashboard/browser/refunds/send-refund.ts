import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { ChangeForm, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { useFoundWallets } from '#payments/checkout/page/browser/wallet/found-wallets.ts';
import type { Wallet } from '#payments/checkout/page/browser/wallet/wallet-provider.ts';
import {
  readyAccount,
  sendTransfer,
  stopReason,
} from '#payments/checkout/page/browser/wallet/wallet-transfer.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { tokenAt, useChains } from '../chains.ts';

type Refund = Payments['Refund'];

interface SendRefundProps {
  readonly refund: Refund;
  readonly changed: () => void;
}

/** Ways to send the money: a wallet of this browser, a request for another wallet, or the hash of a transaction. */
export function SendRefund({ refund, changed }: SendRefundProps): VNode {
  const [hash, setHash] = useState('');
  const change = useChange();
  const name = (sent: string) =>
    change.run(async () => {
      const params = { path: { refund_id: refund.id }, header: { 'Idempotency-Key': idempotencyKey() } };
      const body = { tx_hash: sent.trim() };
      await answerOf(api.POST('/api/v1/refunds/{refund_id}/complete', { params, body }));
      changed();
    });
  const sent = async (returned: string) => {
    // The hash stays in its field, so that it can be sent again if the server cannot be reached.
    setHash(returned);
    await name(returned);
  };
  return h(Card, {
    title: 'Send the money',
    children: html`
      ${h(WalletButtons, { refund, sent })}
      ${h(RequestFacts, { refund })}
      ${h(ChangeForm, {
        label: 'Transaction of the refund',
        action: 'Name transaction',
        change,
        onSubmit: () => void name(hash),
        children: h(TextField, {
          label: 'Sent with another wallet? Hash of the transaction',
          param: 'tx_hash',
          value: hash,
          isRequired: true,
          placeholder: '0x…',
          hint: 'A transfer of tokens from one of your recipients is also found without it.',
          onValue: setHash,
        }),
      })}
    `,
  });
}

/** A button for each wallet of this browser. */
function WalletButtons({ refund, sent }: { refund: Refund; sent: (hash: string) => Promise<void> }): VNode {
  const { wallets, isSearched } = useFoundWallets();
  const chains = useChains() ?? [];
  const chain = chains.find(({ id }) => id === refund.chain_id);
  const token = tokenAt(chains, refund);
  const [said, setSaid] = useState('');
  // At once, where a state changes with the next rendering: a double click must not send twice.
  const isBusy = useRef(false);
  const send = async ({ provider }: Wallet) => {
    if (isBusy.current || chain === undefined || token === undefined) return;
    isBusy.current = true;
    const transfer = {
      provider,
      chain,
      token,
      recipient: refund.destination_address,
      amount: BigInt(refund.amount),
    };
    try {
      setSaid('Allow the connection in your wallet, and confirm the transfer.');
      const account = await readyAccount(transfer);
      if (!(await isStillToSend(refund.id))) {
        setSaid('This refund was changed by somebody else. Nothing was sent.');
        return;
      }
      const hash = await sendTransfer(transfer, account);
      setSaid('Sent.');
      await sent(hash);
    } catch (error) {
      const { ENGLISH } = await import('#payments/browser/languages/en.ts');
      setSaid(stopReason(error, chain, ENGLISH));
    } finally {
      isBusy.current = false;
    }
  };
  return html`
    <div class="row">
      ${wallets.map(
        wallet =>
          html`<button type="button" class="primary" key=${wallet.id} onClick=${() => void send(wallet)}>Send with ${wallet.name}</button>`,
      )}
      ${isSearched && wallets.length === 0 && html`<span class="small">No wallet was found in this browser.</span>`}
    </div>
    <p role="status">${said}</p>
  `;
}

/** Asks again before the wallet does: another person may have sent the money meanwhile. */
async function isStillToSend(id: string): Promise<boolean> {
  const { data } = await answerOf(
    api.GET('/api/v1/refunds/{refund_id}', { params: { path: { refund_id: id } } }),
  );
  return data.status === 'requires_action';
}

function RequestFacts({
  refund: { payment_uri: uri, transaction_request: request },
}: {
  refund: Refund;
}): VNode {
  const copied = (text: string, label: string) =>
    html`<code class="clipped">${text}</code> ${h(CopyButton, { text, label })}`;
  return html`<details>
    <summary>Transaction for another wallet</summary>
    ${h(Facts, {
      rows: [
        ['Payment request (EIP-681)', uri !== null && copied(uri, 'Copy the payment request')],
        ['To', request !== null && copied(request.to, 'Copy the address')],
        ['Value in wei', request?.value ?? null],
        ['Data', request !== null && copied(request.data, 'Copy the data')],
      ],
    })}
  </details>`;
}
