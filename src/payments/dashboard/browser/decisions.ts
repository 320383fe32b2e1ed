import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';

const MAX_REASON = 500;

/** Field for the reason of a merchant's decision. */
export function ReasonField({ value, onValue }: { value: string; onValue: (text: string) => void }): VNode {
  return h(TextField, {
    label: 'Reason (only you see it)',
    param: 'reason',
    value,
    maxLength: MAX_REASON,
    onValue,
  });
}

/** Part of a request with the typed reason; empty for none. */
export function reasonPart(typed: string): { readonly reason?: string } {
  const reason = typed.trim();
  return reason === '' ? {} : { reason };
}

/** Person or program that made a decision, and the reason, if there is one. */
export function DecidedBy({ actor, reason }: { actor: string | null; reason: string | null }): VNode {
  return html`<p class="small">
    ${actor !== null && actorText(actor)}${reason !== null && html`<br />Reason: ${reason}`}
  </p>`;
}

/** A program or a person, with the id of the key or member. */
export function actorText(actor: string): string {
  const [kind, id] = actor.split(':');
  if (kind === 'member') return `Member ${id}`;
  return kind === 'dashboard' ? `Dashboard, signed in with ${id}` : `API key ${id}`;
}
