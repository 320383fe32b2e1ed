import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, Empty, type Loading, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { Source } from '../frame.ts';
import { AddressReference } from '../records/address-reference.ts';
import { CodeText } from '../records/code-text.ts';
import { CoinAmount } from '../records/coin.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { pageQuery, recordList } from '../records/record-list.ts';
import { type Call, callsOf, countCalls, knownAddresses } from './calls.ts';

type Transaction = Explorer['Transaction'];
type Names = ReturnType<typeof knownAddresses>;

const NOT_IMPLEMENTED = 501;
const OPEN_UP_TO = 200;
const SHOWN_CALLS = 100;

/** Calls between contracts as a tree. Without a trace, a list of internal transactions. */
export function CallTree({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  const trace = useTrace(chainId, transaction);
  const internal = useAnswer(
    signal => internalTransactions(chainId, transaction.hash, { signal }),
    [transaction.hash, transaction.block_number],
  );
  if (trace.problem?.status === NOT_IMPLEMENTED) return h(FlatCalls, { chainId, hash: transaction.hash });
  const names = knownAddresses(transaction, internal.answer?.data.items ?? []);
  return h(Card, {
    children: h(Awaited<readonly Explorer['RawTrace'][]>, {
      loading: trace,
      children: (frames, headers) =>
        html`${h(Calls, { chainId, calls: callsOf(frames), names })}${h(Source, { headers })}`,
    }),
  });
}

function FlatCalls({ chainId, hash }: { chainId: number; hash: string }): VNode {
  return h(Card, {
    children: recordList({
      label: 'Internal transactions of the transaction',
      load: (position, signal) => internalTransactions(chainId, hash, { position, signal }),
      keyOf: internalKey,
      columns: internalColumns(chainId, { within: 'transaction' }),
      empty: 'This transaction has no internal transactions.',
      inputs: [hash],
    }),
  });
}

function internalTransactions(
  chainId: number,
  hash: string,
  { position, signal }: { position?: Parameters<typeof pageQuery>[1]; signal: AbortSignal },
) {
  return api.GET('/explorer/transactions/{transaction_hash}/internal-transactions', {
    params: { path: { transaction_hash: hash }, query: pageQuery(chainId, position) },
    signal,
  });
}

function Calls({ chainId, calls, names }: { chainId: number; calls: readonly Call[]; names: Names }): VNode {
  const count = countCalls(calls);
  // A new `round` recreates the tree with all branches open or closed.
  const [{ isOpen, round }, setAll] = useState({ isOpen: count <= OPEN_UP_TO, round: 0 });
  if (calls.length === 0) return h(Empty, { children: 'There is no trace of this transaction yet.' });
  return html`
    <div class="title">
      <p class="small">${grouped(count)} ${count === 1 ? 'call' : 'calls'}, the transaction's own included</p>
      <span class="row">
        <button type="button" onClick=${() => setAll({ isOpen: true, round: round + 1 })}>Expand all</button>
        <button type="button" onClick=${() => setAll({ isOpen: false, round: round + 1 })}>Collapse all</button>
      </span>
    </div>
    ${h(Branch, { key: round, chainId, calls, names, isOpen })}
  `;
}

interface BranchProps {
  chainId: number;
  calls: readonly Call[];
  names: Names;
  isOpen: boolean;
}

/** Calls of one level, a limited number at a time. */
function Branch({ chainId, calls, names, isOpen }: BranchProps): VNode {
  const [shown, setShown] = useState(SHOWN_CALLS);
  const hidden = calls.length - shown;
  return html`<ul class="tree">
    ${calls.slice(0, shown).map(call => h(Step, { key: call.path, chainId, call, names, isOpen }))}
    ${
      hidden > 0 &&
      html`<li><button type="button" onClick=${() => setShown(shown + SHOWN_CALLS)}>${grouped(hidden)} more</button></li>`
    }
  </ul>`;
}

function Step({
  chainId,
  call,
  names,
  isOpen: isOpenAtFirst,
}: Omit<BranchProps, 'calls'> & { call: Call }): VNode {
  const { path, kind, calls, to, value, selector, error } = call;
  const [isOpen, setOpen] = useState(isOpenAtFirst || path === '');
  const step = path === '' ? 'the transaction' : `call ${path}`;
  return html`<li>
    <div class="step">
      ${
        calls.length > 0 &&
        html`<button
          type="button"
          class="toggle"
          aria-expanded=${isOpen}
          aria-label=${`Calls of ${step}`}
          onClick=${() => setOpen(!isOpen)}
        >${isOpen ? '−' : '+'}</button>`
      }
      ${h(Badge, { tone: error === undefined ? 'plain' : 'bad', children: clipped(kind) })}
      ${to !== undefined && html`<span class="row">to ${h(Party, { chainId, address: to, names })}</span>`}
      ${selector !== undefined && html`<code class="small">${selector}</code>`}
      ${value > 0n && html`<strong>${h(CoinAmount, { chainId, amount: value })}</strong>`}
      <span class="small">${gasText(call)}</span>
      ${error !== undefined && h(Badge, { tone: 'bad', children: clipped(error) })}
      ${!isOpen && calls.length > 0 && html`<span class="small">${grouped(countCalls(calls))} inside</span>`}
    </div>
    ${isOpen && calls.length > 0 && h(Branch, { chainId, calls, names, isOpen: isOpenAtFirst })}
  </li>`;
}

function Party({ chainId, address, names }: { chainId: number; address: string; names: Names }): VNode {
  const known = names.get(address.toLowerCase());
  return known === undefined
    ? h(Reference, { value: address, href: pageOf.address(chainId, address) })
    : h(AddressReference, { chainId, address: known });
}

function gasText({ gasUsed, gasLimit }: Call): string {
  if (gasUsed === undefined) return gasLimit === undefined ? '' : `gas: ${grouped(gasLimit)} given`;
  return `gas: ${grouped(gasUsed)} used${gasLimit === undefined ? '' : ` of ${grouped(gasLimit)}`}`;
}

type Frames = readonly Explorer['RawTrace'][];

/** Trace of a transaction, unchanged from the node. */
export function RawTrace({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  const trace = useTrace(chainId, transaction);
  return h(Card, {
    children: h(Awaited<Frames>, {
      loading: trace,
      children: (frames, headers) =>
        frames.length === 0
          ? h(Empty, { children: 'There is no trace of this transaction yet.' })
          : html`${h(CodeText, { label: 'Raw trace', value: JSON.stringify(frames, undefined, 2) })}
          ${h(Source, { headers })}`,
    }),
  });
}

/** Requests the trace of a transaction. Requests it again once its block changes. */
function useTrace(chainId: number, { hash, block_number }: Transaction): Loading<Frames> {
  return useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}/raw-trace', {
        params: { path: { transaction_hash: hash }, query: { chain_id: chainId } },
        signal,
      }),
    [hash, block_number],
  );
}
