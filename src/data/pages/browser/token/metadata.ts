import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Moment } from '#pages/browser/moment.ts';
import { clipped } from '#pages/browser/reference.ts';

/** One attribute of an NFT, as named by its publisher. */
interface Attribute {
  readonly name: string;
  readonly value: unknown;
  readonly isDate: boolean;
}

const MOST_ATTRIBUTES = 200;
const NAME_CHARACTERS = 60;
const VALUE_CHARACTERS = 200;
/** The latest second that a Date can hold. */
const LAST_SECOND = 8.64e12;

/** Attributes of an NFT. Metadata comes from strangers, so it is shown as text only. */
export function Attributes({ metadata }: { metadata: Readonly<Record<string, unknown>> }): VNode | null {
  const attributes = attributesOf(metadata);
  if (attributes.length === 0) return null;
  return html`<dl class="attributes">
    ${attributes.slice(0, MOST_ATTRIBUTES).map(
      ({ name, value, isDate }, position) => html`<div key=${position}>
        <dt>${clipped(name, NAME_CHARACTERS)}</dt>
        <dd>${isDate ? html`<${Moment} at=${Number(value) * 1000} />` : clipped(textOf(value), VALUE_CHARACTERS)}</dd>
      </div>`,
    )}
  </dl>
  ${
    attributes.length > MOST_ATTRIBUTES &&
    html`<p class="small">The first ${MOST_ATTRIBUTES} of ${attributes.length} attributes; all are in the metadata below.</p>`
  }`;
}

/**
 * Reads the attributes: a list of `{ trait_type, value }`, as marketplaces use it, or an object of names and values.
 */
function attributesOf({ attributes, traits }: Readonly<Record<string, unknown>>): readonly Attribute[] {
  const given = attributes ?? traits;
  if (Array.isArray(given)) {
    return given.map((one: unknown) => {
      const { trait_type, name, value = one, display_type } = entriesOf(one);
      return {
        name: textOf(trait_type ?? name ?? 'Attribute'),
        value,
        isDate: display_type === 'date' && typeof value === 'number' && Math.abs(value) <= LAST_SECOND,
      };
    });
  }
  return Object.entries(entriesOf(given)).map(([name, value]) => ({ name, value, isDate: false }));
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '–' : JSON.stringify(value);
}
