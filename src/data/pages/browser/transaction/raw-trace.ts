import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, Empty, type Loading, useAnswer } from '#pages/browser/answer.ts';
import { Card } from '#pages/browser/layout.ts';
import { api, type Explorer } from '../api.ts';
import { Source } from '../frame.ts';
import { CodeText } from '../records/code-text.ts';

type Transaction = Explorer['Transaction'];
type Frames = readonly Explorer['RawTrace'][];

/** Trace of a transaction, unchanged from the node. */
export function RawTrace({ chainId, transaction }: { chainId: number; transaction: Transaction }): VNode {
  const trace = useTrace(chainId, transaction);
  return html`<${Card}>
    <${Awaited} loading=${trace}>${(frames: Frames, headers: Headers) =>
      frames.length === 0
        ? html`<${Empty}>There is no trace of this transaction yet.<//>`
        : html`<${CodeText} label="Raw trace" value=${JSON.stringify(frames, undefined, 2)} />
            <${Source} headers=${headers} />`}<//>
  <//>`;
}

/** Requests the trace of a transaction. Requests it again once its block changes. */
export function useTrace(chainId: number, { hash, block_number }: Transaction): Loading<Frames> {
  return useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}/raw-trace', {
        params: { path: { transaction_hash: hash }, query: { chain_id: chainId } },
        signal,
      }),
    [hash, block_number],
  );
}
