import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** Code, strong text, emphasis and links. */
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
const ITEM = /^[-*] /;
const HEADING = /^##+ /;

/** Renders what descriptions use of Markdown: headings, paragraphs, lists, code, strong text, emphasis and links. */
export function markdown(text: string): ComponentChildren {
  return text
    .trim()
    .split(/\n{2,}/)
    .filter(block => block !== '')
    .map(block => {
      if (HEADING.test(block)) return html`<h2>${inline(block.replace(HEADING, ''))}</h2>`;
      const lines = block.split('\n');
      if (!ITEM.test(lines[0] ?? '')) return html`<p>${inline(block)}</p>`;
      const items = block.split(/\n(?=[-*] )/);
      return html`<ul>${items.map(item => html`<li>${inline(item.replace(ITEM, ''))}</li>`)}</ul>`;
    });
}

/** Renders one line of Markdown. */
export function inline(text: string): ComponentChildren {
  const rendered: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, label, address] = match;
    rendered.push(text.slice(at, match.index));
    if (code !== undefined) rendered.push(html`<code>${code}</code>`);
    else if (strong !== undefined) rendered.push(html`<strong>${strong}</strong>`);
    else if (emphasis !== undefined) rendered.push(html`<em>${emphasis}</em>`);
    else
      rendered.push(/^(?:https?:|#|\/)/.test(address ?? '') ? html`<a href=${address}>${label}</a>` : label);
    at = match.index + whole.length;
  }
  return [...rendered, text.slice(at)];
}
