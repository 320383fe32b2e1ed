import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Facts } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { useFoundWallets } from '#payments/checkout/page/browser/wallet/found-wallets.ts';
import type { Wallet } from '#payments/checkout/page/browser/wallet/wallet-provider.ts';
import { accountOn, sendCall, stopReason } from '#payments/checkout/page/browser/wallet/wallet-transfer.ts';
import type { Payments } from '../api.ts';
import { type Chains, TransactionHash } from '../chains.ts';

type SweepTransaction = Payments['SweepTransaction'];

interface SweepTransactionsProps {
  readonly chain: Chains[number];
  readonly transactions: readonly SweepTransaction[];
  readonly swept: () => void;
}

/** The transactions of a sweep, each to be sent by a wallet of this browser or copied for another one. */
export function SweepTransactions({ chain, transactions, swept }: SweepTransactionsProps): VNode {
  const { wallets, isSearched } = useFoundWallets();
  return html`
    ${isSearched && wallets.length === 0 && html`<p class="small">No wallet was found in this browser.</p>`}
    ${transactions.map((transaction, index) =>
      h(SweepTransactionCard, {
        key: transaction.data,
        title: `Transaction ${index + 1} of ${transactions.length}`,
        chain,
        transaction,
        wallets,
        swept,
      }),
    )}
  `;
}

function SweepTransactionCard({
  title,
  chain,
  transaction,
  wallets,
  swept,
}: {
  key: string;
  title: string;
  chain: Chains[number];
  transaction: SweepTransaction;
  wallets: readonly Wallet[];
  swept: () => void;
}): VNode {
  const [said, setSaid] = useState('');
  const [hash, setHash] = useState<string>();
  // At once, where a state changes with the next rendering: a double click must not send twice.
  const isBusy = useRef(false);
  const { to, value, data, gas, items } = transaction;
  const send = async ({ provider }: Wallet) => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      setSaid('Allow the connection in your wallet, and confirm the transaction.');
      const from = await accountOn({ provider, chain });
      setHash(await sendCall({ provider, chain }, { from, to, data }));
      setSaid('Sent. The amounts change when the transaction is confirmed.');
      swept();
    } catch (error) {
      const { ENGLISH } = await import('#payments/browser/languages/en.ts');
      setSaid(stopReason(error, chain, ENGLISH));
    } finally {
      isBusy.current = false;
    }
  };
  return html`<section aria-label=${title}>
    <h3>${title}</h3>
    <p class="small">${items.length} ${items.length === 1 ? 'address' : 'addresses'}, about ${gas} gas</p>
    <div class="row">
      ${
        hash === undefined &&
        wallets.map(
          wallet =>
            html`<button type="button" class="primary" key=${wallet.id} onClick=${() => void send(wallet)}>Send with ${wallet.name}</button>`,
        )
      }
    </div>
    <p role="status">${said} ${hash !== undefined && h(TransactionHash, { hash, chainId: chain.id })}</p>
    <details>
      <summary>Transaction for another wallet</summary>
      ${h(Facts, {
        rows: [
          ['To', copied(to, 'Copy the address')],
          ['Value in wei', value],
          ['Data', copied(data, 'Copy the data')],
        ],
      })}
    </details>
  </section>`;
}

function copied(text: string, label: string): VNode {
  return html`<code class="clipped">${text}</code> ${h(CopyButton, { text, label })}`;
}
