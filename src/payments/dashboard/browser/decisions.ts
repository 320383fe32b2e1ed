import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { askNames, type NamedActor } from './api.ts';

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
    ${actor !== null && h(ActorName, { actor })}${reason !== null && html`<br />Reason: ${reason}`}
  </p>`;
}

type Names = ReadonlyMap<string, Pick<NamedActor, 'name' | 'is_removed'>>;
const NO_NAMES: Names = new Map();

/** Names of the organization's members and keys, which the page asks for once, and only if it shows one. */
let asked: Promise<Names> | undefined;

/** A member, key or operator by name, with the id behind it. The id stands for a name that is not known. */
export function ActorName({ actor }: { actor: string }): VNode {
  const [names, setNames] = useState(NO_NAMES);
  useEffect(() => {
    asked ??= askNames().then(
      all => new Map(all.map(one => [one.actor, one])),
      () => NO_NAMES, // the ids are shown
    );
    asked.then(setNames, () => {});
  }, []);
  const [, id] = actor.split(':');
  return html`<span title=${id}>${actorText(actor, names)}</span>`;
}

function actorText(actor: string, names: Names): string {
  const [kind, id = ''] = actor.split(':');
  if (kind === 'operator') return 'Operator of the service';
  const isMember = kind === 'member';
  const { name, is_removed: isGone } = names.get(isMember ? actor : `api_key:${id}`) ?? UNKNOWN;
  if (isMember) return `${name ?? id}${isGone ? ' (removed)' : ''}`;
  const key = name === undefined ? `Key ${id}` : `Key “${name}”${isGone ? ' (revoked)' : ''}`;
  return kind === 'dashboard' ? `Dashboard, signed in with ${key}` : key;
}

const UNKNOWN = { name: undefined, is_removed: false };
