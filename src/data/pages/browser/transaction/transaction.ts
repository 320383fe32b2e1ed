import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Tabs } from '#pages/browser/layout.ts';
import { Reference, shortened } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf, pagePath } from '../api.ts';
import { Elsewhere } from '../elsewhere.ts';
import { Frame, Source } from '../frame.ts';
import { useActivity, useHead } from '../live/live.ts';
import { MainRecord, wasRemoved } from '../main-record.ts';
import { ProofBadge } from '../records/chain-facts.ts';
import { useChain } from '../records/coin.ts';
import { TransactionStatus } from '../records/transaction-columns.ts';
import { SummarySentence } from './summary-sentence.ts';
import { TransactionOverview } from './transaction-overview.ts';
import { transactionTabs } from './transaction-tabs.ts';

type Transaction = Explorer['Transaction'];

const { chainId, rest } = pagePath();
const [, asked = ''] = rest;

/** Page of a transaction. It follows the transaction until it is final, so one that was just sent appears. */
function TransactionPage(): VNode {
  const [phase, setPhase] = useState<'missing' | 'open' | 'final'>('missing');
  const needed = useChain(chainId)?.confirmations;
  const head = useHead(chainId);
  const { renewal, activity } = useActivity(chainId, 'transaction', asked);
  const transaction = useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}', {
        params: { path: { transaction_hash: asked }, query: { chain_id: chainId } },
        signal,
      }),
    [],
    {
      ...(phase === 'final' ? { version: renewal.everyMs === undefined && renewal.version } : renewal),
      ...(phase === 'missing' && { version: activity.count }),
      mayAppear: phase !== 'final',
    },
  );
  const block = transaction.answer?.data.block_number;
  const isFinal =
    block != null &&
    head !== undefined &&
    needed !== undefined &&
    head - block >= needed &&
    !wasRemoved(transaction);
  useEffect(() => {
    if (block !== undefined) setPhase(isFinal ? 'final' : 'open');
  }, [block, isFinal]);
  const wasIncluded = useRef(false);
  wasIncluded.current ||= block != null;
  setTitle(`Transaction ${shortened(asked)}`);

  return h(Frame, {
    children: h(MainRecord<Transaction>, {
      loading: transaction,
      title: 'Transaction',
      malformed: 'This is not a transaction hash. A hash is 0x and 64 hexadecimal digits.',
      missing: html`This transaction was not found. One that was sent just now can take a few seconds.
        ${h(Elsewhere, { chainId, what: 'transaction', text: asked })}`,
      mayAppear: true,
      removed:
        'This transaction is no longer on the chain. What is shown is from the time when it was. It may be included in another block.',
      children: (data, headers) =>
        h(ShownTransaction, {
          transaction: data,
          headers,
          isRemoved: wasRemoved(transaction),
          wasIncluded: wasIncluded.current,
        }),
    }),
  });
}

function ShownTransaction({
  transaction,
  headers,
  isRemoved,
  wasIncluded,
}: {
  transaction: Transaction;
  headers: Headers;
  isRemoved: boolean;
  /** True when a block contained it while the page was open. */
  wasIncluded: boolean;
}): VNode {
  const { hash, block_number, proven } = transaction;
  const chain = useChain(chainId);
  return html`
    <div>
      <h1 class="row">
        Transaction ${h(TransactionStatus, { transaction, isRemoved })}
        ${!isRemoved && h(ProofBadge, { proven })}
      </h1>
      <p>${h(Reference, { value: hash, isWhole: true })}</p>
      <p class="small">On <a href=${pageOf.chain(chainId)}>${chain?.name ?? `chain ${chainId}`}</a></p>
    </div>
    ${
      block_number === null &&
      html`<p class="notice" role="status">
        ${wasIncluded && 'The block that contained this transaction is no longer on the chain. '}
        This transaction is waiting to be included in a block. The page shows when it is.
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
            ${h(TransactionOverview, { chainId, transaction, isRemoved })}
            ${h(Source, { headers })}
          `,
        },
        ...transactionTabs(chainId, transaction),
      ],
    })}
  `;
}

show(TransactionPage);
