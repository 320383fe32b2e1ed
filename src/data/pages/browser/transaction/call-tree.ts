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
import { DecodedParameters } from '../records/decoded-parameters.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { pageQuery, recordList } from '../records/record-list.ts';
import { type Call, callsOf, countCalls, knownAddresses, openPaths, visibleCalls } from './calls.ts';

type Transaction = Explorer['Transaction'];
type Names = ReturnType<typeof knownAddresses>;

const NOT_IMPLEMENTED = 501;
/** Larger trees show their first level only. */
const OPEN_UP_TO = 200;
/** Deeper calls are folded at first. */
const OPEN_DEPTH = 8;
const SHOWN_CALLS = 100;
const REASON_CHARACTERS = 300;

/** Calls between contracts as a tree. Without a trace, a list of internal transactions. */
export function CallTree({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  const trace = useTrace(chainId, transaction, { decode: true });
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

interface CallsProps {
  chainId: number;
  calls: readonly Call[];
  names: Names;
}

/** Calls as rows in the order of execution. A row folds what is inside its call, at any depth. */
function Calls({ chainId, calls, names }: CallsProps): VNode {
  const count = countCalls(calls);
  const [open, setOpen] = useState(() => openPaths(calls, count <= OPEN_UP_TO ? OPEN_DEPTH : 1));
  const [shown, setShown] = useState(SHOWN_CALLS);
  if (calls.length === 0) return h(Empty, { children: 'There is no trace of this transaction yet.' });
  const visible = visibleCalls(calls, open);
  const toggle = (path: string) =>
    setOpen(new Set(open.has(path) ? [...open].filter(one => one !== path) : [...open, path]));
  return html`
    <div class="title">
      <p class="small">${grouped(count)} ${count === 1 ? 'call' : 'calls'}, the transaction's own included</p>
      <span class="row">
        <button type="button" onClick=${() => setOpen(openPaths(calls, Number.POSITIVE_INFINITY))}>Expand all</button>
        <button type="button" onClick=${() => setOpen(new Set())}>Collapse all</button>
      </span>
    </div>
    <ol class="calls" aria-label="Calls">
      ${visible
        .slice(0, shown)
        .map(call => h(Step, { key: call.path, chainId, call, names, isOpen: open.has(call.path), toggle }))}
    </ol>
    ${
      visible.length > shown &&
      html`<button type="button" onClick=${() => setShown(shown + SHOWN_CALLS)}>${grouped(visible.length - shown)} more</button>`
    }
  `;
}

interface StepProps extends Omit<CallsProps, 'calls'> {
  call: Call;
  isOpen: boolean;
  toggle: (path: string) => void;
}

function Step({ chainId, call, names, isOpen, toggle }: StepProps): VNode {
  const { path, kind, depth, inside, to, value, error, decoded } = call;
  const step = path === '' ? 'the transaction' : `call ${path}`;
  const reason = decoded?.revert_reason ?? null;
  return html`<li class="step" style=${{ '--depth': depth }}>
    <div class="row">
      ${
        inside > 0 &&
        html`<button
          type="button"
          class="toggle"
          aria-expanded=${isOpen}
          aria-label=${`Calls of ${step}`}
          onClick=${() => toggle(path)}
        >${isOpen ? '−' : '+'}</button>`
      }
      ${depth > 0 && html`<span class="depth small" title=${`Depth ${depth}`}><span class="visually-hidden">Depth </span>${depth}</span>`}
      ${h(Badge, { tone: error === undefined ? 'plain' : 'bad', children: clipped(kind) })}
      ${to !== undefined && html`<span class="row">to ${h(Party, { chainId, address: to, names })}</span>`}
      ${h(Method, { call })}
      ${value > 0n && html`<strong>${h(CoinAmount, { chainId, amount: value })}</strong>`}
      <span class="small">${gasText(call)}</span>
      ${error !== undefined && h(Badge, { tone: 'bad', children: clipped(error) })}
      ${!isOpen && inside > 0 && html`<span class="small">${grouped(inside)} inside</span>`}
    </div>
    ${reason !== null && html`<p class="reason"><code class="text">${clipped(reason, REASON_CHARACTERS)}</code></p>`}
    ${decoded !== undefined && h(Values, { chainId, decoded, step })}
  </li>`;
}

/** Method of a call by its name, else by its selector. */
function Method({ call: { selector, decoded } }: { call: Call }): VNode | null {
  const signature = decoded?.method_call ?? null;
  if (signature !== null)
    return html`<code class="method" title=${clipped(signature, REASON_CHARACTERS)}>${clipped(signature.slice(0, signature.indexOf('(')))}</code>`;
  return selector === undefined ? null : html`<code class="small">${selector}</code>`;
}

/** Arguments and returned values of a call. They are shown on demand, because a page may have hundreds of calls. */
function Values({
  chainId,
  decoded: { parameters, result },
  step,
}: {
  chainId: number;
  decoded: Explorer['DecodedCall'];
  step: string;
}): VNode | null {
  const [isOpen, setOpen] = useState(false);
  const returned = result ?? [];
  const parts = [
    ...(parameters.length === 0
      ? []
      : [`${parameters.length} ${parameters.length === 1 ? 'argument' : 'arguments'}`]),
    ...(returned.length === 0 ? [] : [`${returned.length} returned`]),
  ];
  if (parts.length === 0) return null;
  return html`<details onToggle=${(event: Event & { currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open)}>
    <summary class="small">${parts.join(', ')}</summary>
    ${
      isOpen &&
      html`${parameters.length > 0 && h(DecodedParameters, { chainId, label: `Arguments of ${step}`, parameters })}
      ${returned.length > 0 && h(DecodedParameters, { chainId, label: `Returned by ${step}`, parameters: returned })}`
    }
  </details>`;
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
function useTrace(
  chainId: number,
  { hash, block_number }: Transaction,
  options: { decode?: boolean } = {},
): Loading<Frames> {
  return useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}/raw-trace', {
        params: { path: { transaction_hash: hash }, query: { chain_id: chainId, ...options } },
        signal,
      }),
    [hash, block_number],
  );
}
