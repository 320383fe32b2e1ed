import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { FAILURE_WORDS } from '#payments/browser/failure-words.ts';
import { confirmationsText, MARK_WORDS, MATCH_WORDS, proofWords } from '#payments/browser/transfer-words.ts';
import { dashboard } from '../addresses.ts';
import type { Payments } from '../api.ts';
import { Amount, TransactionHash } from '../chains.ts';
import { DecidedBy } from '../decisions.ts';
import { EventDeliveries } from '../events/deliveries.ts';
import { EVENT_NAMES } from '../events/event-names.ts';
import { TransactionStatus } from '../statuses.ts';
import { Move } from './move.ts';

type Transfer = Payments['PaymentTransaction'];

/** Records about a checkout. Each list has the newest first, as in the API. */
export interface Story {
  readonly session: Payments['CheckoutSession'];
  readonly transfers: readonly Transfer[];
  /** Payments that the merchant has ever moved from this checkout to another one. */
  readonly movedAway: readonly Transfer[];
  readonly events: readonly Payments['EventRecord'][];
  /** Called after a decision about a transfer. */
  readonly changed: () => void;
}

interface Entry {
  readonly key: string;
  readonly at: string;
  readonly content: ComponentChildren;
}

/** History of a checkout, the earliest first. */
export function Timeline({ story }: { story: Story }): VNode {
  const entries = entriesOf(story).toSorted((one, other) => one.at.localeCompare(other.at));
  return html`<ol class="timeline">
    ${entries.map(
      ({ key, at, content }) => html`<li key=${key}><p class="small">${h(Moment, { at })}</p>${content}</li>`,
    )}
  </ol>`;
}

/** Entries in the order that the stable sort keeps for equal times. */
function entriesOf(story: Story): readonly Entry[] {
  const { session, transfers, movedAway, events } = story;
  return [
    { key: 'opened', at: session.created_at, content: html`<p>The checkout was created.</p>` },
    ...transfers.toReversed().flatMap(transfer => entriesOfTransfer(transfer, story)),
    ...movedAway.toReversed().flatMap(transfer => entriesOfMoves(transfer, session.id)),
    ...entriesOfAcceptance(session),
    ...events.toReversed().map(event => ({
      key: event.id,
      at: event.created_at,
      content: h(TimelineEvent, { event }),
    })),
  ];
}

function entriesOfTransfer(transfer: Transfer, story: Story): readonly Entry[] {
  const { id, created_at, confirmed_at, confirmations, required_confirmations, assigned_at } = transfer;
  const isConfirmed = confirmations >= required_confirmations && required_confirmations > 0;
  const text =
    required_confirmations === 1
      ? 'The confirmation has arrived.'
      : `All ${required_confirmations} confirmations have arrived.`;
  return [
    { key: id, at: created_at, content: h(Seen, { transfer, story }) },
    ...(confirmed_at !== null && isConfirmed
      ? [{ key: `${id} confirmed`, at: confirmed_at, content: html`<p>${text}</p>` }]
      : []),
    ...(assigned_at === null
      ? []
      : [{ key: `${id} assigned`, at: assigned_at, content: h(Assigned, { transfer }) }]),
  ];
}

/** The times at which a payment arrived at this checkout and was moved away from it. */
function entriesOfMoves(transfer: Transfer, id: string): readonly Entry[] {
  const { moves } = transfer;
  return moves.flatMap((move, index) => {
    if (move.session_id !== id) return [];
    const earlier = moves[index - 1];
    const to = moves[index + 1]?.session_id ?? transfer.session_id;
    const key = `${transfer.id} ${move.moved_at}`;
    const amount = h(Amount, { units: transfer.amount, of: transfer });
    const arrival =
      earlier === undefined
        ? html`<p>A transfer of ${amount} was detected.</p>`
        : h(MovedHere, { transfer, move: earlier });
    return [
      { key: `${key} arrived`, at: earlier?.moved_at ?? transfer.created_at, content: arrival },
      {
        key,
        at: move.moved_at,
        content: html`
          <p>The payment of ${amount} was moved to ${h(Reference, { value: to, href: dashboard.payment(to) })}.</p>
          ${h(DecidedBy, { actor: move.moved_by, reason: move.moved_reason })}
        `,
      },
    ];
  });
}

function entriesOfAcceptance({
  accepted_at: at,
  accepted_by: actor,
  accepted_reason: reason,
}: Story['session']) {
  if (at === null) return [];
  const content = html`<p>The checkout was accepted as paid.</p>${h(DecidedBy, { actor, reason })}`;
  return [{ key: 'accepted', at, content }];
}

/** The merchant's decision that a transfer pays this checkout. */
function Assigned({ transfer }: { transfer: Transfer }): VNode {
  const { moves, assigned_by: actor, assigned_reason: reason } = transfer;
  const last = moves.at(-1);
  if (last !== undefined) return h(MovedHere, { transfer, move: last });
  return html`
    <p>The transfer of ${h(Amount, { units: transfer.amount, of: transfer })} was assigned to this checkout.</p>
    ${h(DecidedBy, { actor, reason })}
  `;
}

function MovedHere({ transfer, move }: { transfer: Transfer; move: Payments['PaymentMove'] }): VNode {
  const { session_id: from, moved_by: actor, moved_reason: reason } = move;
  return html`
    <p>
      The payment of ${h(Amount, { units: transfer.amount, of: transfer })} was moved here from${' '}
      ${h(Reference, { value: from, href: dashboard.payment(from) })}.
    </p>
    ${h(DecidedBy, { actor, reason })}
  `;
}

/** Transfer in its current state, with its kind of match and its irregularities. */
function Seen({ transfer, story: { session, changed } }: { transfer: Transfer; story: Story }): VNode {
  const { status, sender_address, tx_hash, chain_id, matched_by, proven } = transfer;
  const proof = proofWords(transfer);
  return html`<div class="stack">
    <p>
      A transfer of ${h(Amount, { units: transfer.amount, of: transfer })} was detected, ${MATCH_WORDS[matched_by]}.${' '}
      ${h(TransactionStatus, { status })}
      ${status === 'confirming' && html` ${confirmationsText(transfer)}`}
      ${proof !== undefined && html` ${h(Badge, { tone: proven === true ? 'good' : 'plain', children: proof })}`}
    </p>
    ${tx_hash !== null && html`<p>Transaction ${h(TransactionHash, { hash: tx_hash, chainId: chain_id })}</p>`}
    ${status === 'completed' && tx_hash === null && html`<p>The balance of the address shows it. Its transaction is not known.</p>`}
    ${sender_address !== null && html`<p>From ${h(Reference, { value: sender_address })}</p>`}
    ${oddities(transfer).map(text => html`<p key=${text}>${h(Badge, { tone: 'warning', children: text })}</p>`)}
    ${transfer.overpaid_amount !== null && html`<p>Overpaid: ${h(Amount, { units: transfer.overpaid_amount, of: transfer })}</p>`}
    ${h(Move, { session, transfer, changed })}
  </div>`;
}

function oddities({ failure_reason, late, duplicate, partial }: Transfer): readonly string[] {
  return [
    failure_reason !== null && `failed: ${FAILURE_WORDS[failure_reason]}`,
    late && MARK_WORDS.late,
    duplicate && MARK_WORDS.duplicate,
    partial && MARK_WORDS.partial,
  ].filter(text => text !== false);
}

function TimelineEvent({ event }: { event: Payments['EventRecord'] }): VNode {
  const [tone, text] = EVENT_NAMES[event.event];
  return html`
    ${'destination_address' in event.data && html`<p><a href=${dashboard.refund(event.data.id)}>Refund</a> of ${h(Amount, { units: event.data.amount, of: event.data })} to ${h(Reference, { value: event.data.destination_address })}</p>`}
    <p><a href=${dashboard.event(event.id)}>Event</a> ${h(Badge, { tone, children: text })}</p>
    ${h(EventDeliveries, { eventId: event.id })}
  `;
}
