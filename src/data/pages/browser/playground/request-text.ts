import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { type Query, requestOf } from './query.ts';

/** The form's request as curl and as TypeScript. */
export function RequestText({ query }: { query: Query }): VNode {
  const url = `${location.origin}${requestOf(query)}`;
  return h(Card, {
    title: 'Request',
    children: html`
      ${h(Code, { name: 'curl', text: `curl '${url}'` })}
      ${h(Code, { name: 'TypeScript', text: typeScriptOf(query) })}
    `,
  });
}

function Code({ name, text }: { name: string; text: string }): VNode {
  return html`<div class="stack">
    <div class="row between"><h3>${name}</h3>${h(CopyButton, { text, label: `Copy as ${name}` })}</div>
    <pre tabindex="0" aria-label=${name}><code>${text}</code></pre>
  </div>`;
}

/** Program that sends the request with the types of the API description. */
function typeScriptOf(query: Query): string {
  const { searchParams } = new URL(requestOf(query), location.origin);
  const { kind, subject, signature } = query;
  const path = [
    ...(kind.subject === undefined ? [] : [[kind.subject.parameter, subject.trim()] as const]),
    ...(kind.signature === undefined ? [] : [[kind.signature.parameter, signature.trim()] as const]),
  ];
  const names = [...new Set(searchParams.keys())];
  const lines = names.map(name => `      ${name}: ${literalOf(name, searchParams.getAll(name))},`);
  return [
    `// npx openapi-typescript ${location.origin}/openapi.json -o tollgate.d.ts`,
    "import createClient from 'openapi-fetch';",
    "import type { paths } from './tollgate.d.ts';",
    '',
    `const tollgate = createClient<paths>({ baseUrl: '${location.origin}' });`,
    `const { data, error } = await tollgate.GET('${kind.path}', {`,
    '  params: {',
    ...(path.length === 0
      ? []
      : [`    path: { ${path.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')} },`]),
    ...(lines.length === 0 ? [] : ['    query: {', ...lines, '    },']),
    '  },',
    '});',
  ].join('\n');
}

const LISTS = ['chain_id', 'group_by', 'aggregate'];
const PLAIN = /^(?:true|0|[1-9]\d{0,14})$/;
const TEXTS = ['sort_by', 'sort_order'];

/** Value of a parameter as a TypeScript literal. */
function literalOf(name: string, values: readonly string[]): string {
  const literals = values.map(value =>
    PLAIN.test(value) && !TEXTS.includes(name) ? value : JSON.stringify(value),
  );
  return LISTS.includes(name) ? `[${literals.join(', ')}]` : (literals[0] ?? '""');
}
