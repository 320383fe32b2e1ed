import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { Awaited, Empty, type Loading } from '#pages/browser/answer.ts';

const MALFORMED = 400;
const MISSING = 404;

/**
 * The record that a page is about. Trying again does not help where the page's address is malformed or names nothing:
 * `malformed` and `missing` say what does.
 */
export function MainRecord<Data>({
  loading,
  malformed,
  missing,
  children,
}: {
  loading: Loading<Data>;
  malformed: ComponentChildren;
  missing: ComponentChildren;
  children: (data: Data, headers: Headers) => ComponentChildren;
}): VNode {
  const { status, message, requestId } = loading.problem ?? {};
  if (loading.answer === undefined && (status === MALFORMED || status === MISSING)) {
    return html`<${Empty}>
      <p>${status === MISSING ? missing : malformed}</p>
      <p class="small">
        ${status} · ${message}${requestId !== undefined && html` · request <code>${requestId}</code>`}
      </p>
    <//>`;
  }
  return html`<${Awaited} loading=${loading}>${children}<//>`;
}
