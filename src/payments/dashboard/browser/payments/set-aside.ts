import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { countText } from '#pages/browser/amounts.ts';
import { answerOf, ProblemNotice, useAnswer } from '#pages/browser/answer.ts';
import { useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Ago } from '#pages/browser/moment.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { ChainName, TransactionHash, useChains } from '../chains.ts';
import { useHasPermission } from '../signed-in.ts';

type Waiting = Payments['SetAsideTransaction'];

const RENEW_MS = 15_000;
/** Most transactions named in the warning. */
const SHOWN = 5;
const REASONS: Readonly<Record<Waiting['reason'], string>> = {
  too_large: 'its receipt is too large',
  refused: 'the node refuses its receipt',
  missing: 'the node has no receipt of it yet',
  unanswered: 'the node does not answer in time',
  contradicted: 'what the node says does not fit the hash of its block',
};

/** Warns of transactions that wait because no node returns their receipts: those of one checkout, or all. */
export function SetAsideWarning({ sessionId }: { sessionId?: string }): VNode | null {
  const query = { page: 1, limit: SHOWN, ...(sessionId !== undefined && { session_id: sessionId }) };
  const waiting = useAnswer(
    signal => api.GET('/api/v1/set-aside-transactions', { params: { query }, signal }),
    [sessionId],
    { everyMs: RENEW_MS },
  );
  if (waiting.answer === undefined) return null;
  return h(SetAsideNotice, { waiting: waiting.answer.data, done: waiting.reload });
}

/** Warns of these transactions. */
export function SetAsideNotice({
  waiting: { data, total_count: count },
  done,
}: {
  waiting: Payments['SetAsideTransactionList'];
  done: () => void;
}): VNode | null {
  if (count === 0) return null;
  return html`<div class="notice warning" role="status">
    <p>
      ${count === 1 ? 'One transaction is waiting' : `${countText(count)} transactions are waiting`} because no node returns a readable
      receipt. Nothing is lost: the checkouts stay open, and the nodes are asked again.
    </p>
    <ul>
      ${data.map(
        one => html`<li key=${one.id}>
          ${h(TransactionHash, { hash: one.tx_hash, chainId: one.chain_id })} on ${h(ChainName, { id: one.chain_id })}:
          ${` ${REASONS[one.reason]}`}, last tried ${h(Ago, { at: one.attempted_at })}
        </li>`,
      )}
    </ul>
    ${h(Retry, { done })}
  </div>`;
}

/** Warns of blocks that are not read completely. No list names their transactions, because these are not known yet. */
export function SetAsideBlocksWarning(): VNode | null {
  const waiting = useChains()?.filter(({ set_aside_blocks }) => set_aside_blocks > 0) ?? [];
  if (waiting.length === 0) return null;
  return html`<div class="notice warning" role="status">
    <p>
      No node returns whole blocks of ${waiting.map(({ name }) => name).join(', ')}, so their transactions are read one by
      one. Payments in these blocks are detected with a delay. A payment that was sent is not lost.
    </p>
    ${h(Retry, { done: () => {} })}
  </div>`;
}

/** Button that asks the nodes again, for those who may. */
function Retry({ done }: { done: () => void }): VNode | null {
  const { isBusy, problem, run } = useChange();
  if (!useHasPermission('write')) return null;
  return html`
    <button type="button" disabled=${isBusy} onClick=${() => run(() => retry().then(done))}>Try again now</button>
    ${problem !== undefined && h(ProblemNotice, { problem })}
  `;
}

function retry(): Promise<unknown> {
  const params = { header: { 'Idempotency-Key': idempotencyKey() } };
  return answerOf(api.POST('/api/v1/set-aside-transactions/retry', { params }));
}
