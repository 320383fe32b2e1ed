import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Tabs } from '#pages/browser/layout.ts';
import { Reference, shortened } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf, pagePath } from '../api.ts';
import { Elsewhere } from '../elsewhere.ts';
import { Frame, Source } from '../frame.ts';
import { MainRecord } from '../main-record.ts';
import { ProofBadge } from '../records/chain-facts.ts';
import { useChain } from '../records/coin.ts';
import { TransactionStatus } from '../records/transaction-columns.ts';
import { SummarySentence } from './summary-sentence.ts';
import { TransactionOverview } from './transaction-overview.ts';
import { transactionTabs } from './transaction-tabs.ts';

type Transaction = Explorer['Transaction'];

const RENEW_MS = 3_000;

const { chainId, rest } = pagePath();
const [, asked = ''] = rest;

/** Page of a transaction. It refreshes until the transaction is final, so one that was just sent appears. */
function TransactionPage(): VNode {
  const [isFinal, setFinal] = useState(false);
  const needed = useChain(chainId)?.confirmations;
  const transaction = useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}', {
        params: { path: { transaction_hash: asked }, query: { chain_id: chainId } },
        signal,
      }),
    [],
    { everyMs: isFinal ? undefined : RENEW_MS, mayAppear: true },
  );
  const { block_number = null, confirmations = null } = transaction.answer?.data ?? {};
  useEffect(
    () => setFinal(block_number !== null && needed !== undefined && (confirmations ?? needed) >= needed),
    [block_number, confirmations, needed],
  );
  setTitle(`Transaction ${shortened(asked)}`);

  return h(Frame, {
    children: h(MainRecord<Transaction>, {
      loading: transaction,
      title: 'Transaction',
      malformed: 'This is not a transaction hash. A hash is 0x and 64 hexadecimal digits.',
      missing: html`This transaction was not found. One that was sent just now can take a few seconds: this page looks for it every ${RENEW_MS / 1000} seconds.
        ${h(Elsewhere, { chainId, what: 'transaction', text: asked })}`,
      children: (data, headers) => h(ShownTransaction, { transaction: data, headers }),
    }),
  });
}

function ShownTransaction({ transaction, headers }: { transaction: Transaction; headers: Headers }): VNode {
  const { hash, block_number, proven } = transaction;
  const chain = useChain(chainId);
  return html`
    <div>
      <h1 class="row">Transaction ${h(TransactionStatus, { transaction })} ${h(ProofBadge, { proven })}</h1>
      <p>${h(Reference, { value: hash, isWhole: true })}</p>
      <p class="small">On <a href=${pageOf.chain(chainId)}>${chain?.name ?? `chain ${chainId}`}</a></p>
    </div>
    ${
      block_number === null &&
      html`<p class="notice" role="status">
        This transaction is waiting to be included in a block. The page refreshes every ${RENEW_MS / 1000} seconds.
      </p>`
    }
    ${block_number !== null && h(SummarySentence, { chainId, hash })}
    ${h(Tabs, {
      label: 'Parts of the transaction',
      tabs: [
        {
          id: 'overview',
          label: 'Overview',
          content: () => html`
            ${h(TransactionOverview, { chainId, transaction })}
            ${h(Source, { headers })}
          `,
        },
        ...transactionTabs(chainId, transaction),
      ],
    })}
  `;
}

show(TransactionPage);
