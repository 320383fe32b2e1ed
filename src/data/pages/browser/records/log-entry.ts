import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from './address-reference.ts';
import { CodeText } from './code-text.ts';
import { DecodedParameters } from './decoded-parameters.ts';
import { blockCell, TransactionReference } from './transaction-columns.ts';

type Log = Explorer['Log'];

/** Address under which the chain itself logs how coins move. Source: EIP-7708. */
const SYSTEM_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe';

/** A log: its contract, its event with parameters if decoded, its topics and its data. */
export function LogEntry({
  chainId,
  log,
  isOfTransaction = false,
}: {
  chainId: number;
  log: Log;
  /** True on the page of the log's transaction. */
  isOfTransaction?: boolean;
}): VNode {
  const { address, decoded, index, topics, data, transaction_hash, block_number } = log;
  // The index alone is not unique when the list covers several transactions.
  const name = isOfTransaction ? `log ${index}` : `log ${index} of ${transaction_hash}`;
  const isOfChain = address.hash.toLowerCase() === SYSTEM_ADDRESS;
  return html`<article class="entry">
    <header class="row">
      ${h(Badge, { children: html`log ${index}` })}
      <h2>${decoded === null ? 'Unknown event' : clipped(nameOfCall(decoded.method_call))}</h2>
      ${isOfChain && h(Badge, { children: 'coins' })}
      <span class="small">${isOfChain ? 'logged by the chain under' : 'emitted by'} ${h(AddressReference, { chainId, address })}</span>
      ${
        !isOfTransaction &&
        html`<span class="small">in ${h(TransactionReference, { chainId, hash: transaction_hash })}${block_number !== undefined && html` of block ${blockCell(chainId, block_number)}`}</span>`
      }
    </header>
    ${
      decoded !== null &&
      decoded.parameters.length > 0 &&
      h(DecodedParameters, {
        chainId,
        label: `Parameters of ${name}`,
        parameters: decoded.parameters,
      })
    }
    <details>
      <summary>Topics and data</summary>
      <ol class="topics" start="0">
        ${topics.map((topic, position) => html`<li key=${position}><code>${topic}</code></li>`)}
      </ol>
      ${h(CodeText, { label: `Data of ${name}`, value: data })}
    </details>
  </article>`;
}

/** Key of a log in a list. */
export const logKey = ({ transaction_hash, index }: Log) => `${transaction_hash} ${index}`;

/** Name of a call or event without its parameters: `Transfer` for `Transfer(address indexed from)`. */
function nameOfCall(call: string): string {
  return call.slice(0, call.includes('(') ? call.indexOf('(') : undefined);
}
