import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** Code, strong text and links. */
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
const ITEM = /^[-*] /;

/** Renders what descriptions use of Markdown: paragraphs, lists, code, strong text and links. */
export function markdown(text: string): ComponentChildren {
  return text
    .trim()
    .split(/\n{2,}/)
    .filter(block => block !== '')
    .map(block => {
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
    const [whole, code, strong, label, address] = match;
    rendered.push(text.slice(at, match.index));
    if (code !== undefined) rendered.push(html`<code>${code}</code>`);
    else if (strong !== undefined) rendered.push(html`<strong>${strong}</strong>`);
    else
      rendered.push(/^(?:https?:|#|\/)/.test(address ?? '') ? html`<a href=${address}>${label}</a>` : label);
    at = match.index + whole.length;
  }
  return [...rendered, text.slice(at)];
}
