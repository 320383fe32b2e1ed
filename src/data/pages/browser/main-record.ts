import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { Awaited, Empty, type Loading } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { clipped } from '#pages/browser/reference.ts';

const MALFORMED = 400;
const MISSING = 404;
const ADDRESS_CHARACTERS = 42;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Main record of a page; `title` is the heading while there is no record. Retrying does not help if the page's URL is
 * malformed or its record is missing, so `malformed` and `missing` replace the retry with advice. A page that checks
 * its URL itself omits `malformed`.
 */
export function MainRecord<Data>({
  loading,
  title,
  malformed,
  missing,
  mayAppear = false,
  removed,
  children,
}: {
  loading: Loading<Data>;
  title: string;
  malformed?: ComponentChildren;
  missing: ComponentChildren;
  /** True when the page looks for a missing record again. */
  mayAppear?: boolean;
  /** Said above a shown record that is missing by now. */
  removed?: ComponentChildren;
  children: (data: Data, headers: Headers) => ComponentChildren;
}): VNode {
  if (wasRemoved(loading) && removed !== undefined) {
    return html`
      <p class="notice warning" role="status">${removed}</p>
      <div class="removed">${h(Awaited<Data>, { loading: { ...loading, problem: undefined }, children })}</div>
    `;
  }
  if (loading.answer !== undefined) return h(Awaited<Data>, { loading, children });
  const { status, message, requestId } = loading.problem ?? {};
  const advice = status === MISSING ? missing : status === MALFORMED ? malformed : undefined;
  return html`
    <h1>${title}</h1>
    ${
      advice === undefined
        ? h(Awaited<Data>, { loading, children })
        : h(Empty, {
            children: html`
              <p>${advice}</p>
              <p class="small">
                ${status} · ${message}${requestId !== undefined && html` · request <code>${requestId}</code>`}
              </p>
              ${mayAppear && h(Search, { loading })}
            `,
          })
    }
  `;
}

/** True when a shown record is missing by now, as after a reorganisation. */
export function wasRemoved({ answer, problem }: Pick<Loading<unknown>, 'answer' | 'problem'>): boolean {
  return answer !== undefined && problem?.status === MISSING;
}

/** Says that a missing record is looked for again, until the page has given up. */
function Search({ loading: { isOver, reload } }: { loading: Loading<unknown> }): VNode {
  return isOver
    ? html`<p class="row"><span>This page has stopped looking for it.</span>
        <button type="button" onClick=${reload}>Look again</button></p>`
    : html`<p role="status">This page looks for it again, at growing intervals.</p>`;
}

/** Content of a page whose URL does not contain a valid address. */
export function MalformedAddress({ text }: { text: string }): VNode {
  return html`
    <h1>Not an address</h1>
    ${h(Empty, {
      children: html`
        <p><code>${clipped(text)}</code> is not an address. An address is 0x followed by 40 hexadecimal digits.</p>
        <p>${faultOf(text)} <a href="/search">Search for something else</a></p>
      `,
    })}
  `;
}

function faultOf(text: string): string {
  if (!text.startsWith('0x')) return 'This one does not begin with 0x.';
  if (text.length !== ADDRESS_CHARACTERS) {
    return `This one has ${text.length} characters instead of ${ADDRESS_CHARACTERS}.`;
  }
  return 'This one has characters other than 0 to 9 and a to f.';
}

/** True for a well-formed address, in any letter case. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}
