import { type ComponentChildren, Fragment, options } from 'preact';

/**
 * Invisible marks that change the direction of text, which `plainLine` removes as well; control characters other than
 * tabs and line breaks; and spaces without width, by which two names look the same.
 */
const MARKS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** Characters without ink, and the marks above. A blank of Braille is a letter for Unicode. */
const INKLESS = /[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffd]/gu;
/** Letters of scripts that are written from right to left. Source: Unicode, DerivedBidiClass.txt. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Replacement character of Unicode. */
const REPLACEMENT = '\ufffd';
/** "First strong isolate" and "pop directional isolate". */
const [FSI, PDI] = ['\u2068', '\u2069'];
/** Attributes that people read. */
const READ = ['title', 'alt', 'aria-label', 'placeholder'] as const;

/**
 * Keeps the direction of a text from the texts next to it, so that a stranger's name cannot reorder an amount
 * (Decision 282). Texts without marks and letters from right to left are returned unchanged.
 */
export function ownDirection(text: string): string {
  const isIsolated = text.startsWith(FSI) && text.endsWith(PDI);
  const inner = isIsolated ? text.slice(FSI.length, -PDI.length) : text;
  const marked = inner.replace(MARKS, REPLACEMENT);
  return isIsolated || RIGHT_TO_LEFT.test(marked) ? `${FSI}${marked}${PDI}` : marked;
}

/** True for a text in which nothing can be seen. It is no name, and no text of a link (Decision 419). */
export function isBlank(text: string): boolean {
  return text.replace(INKLESS, '') === '';
}

let isConfined = false;

/** Applies `ownDirection` to every text that Preact renders from now on, in this browser or process. */
export function confineDirections(): void {
  if (isConfined) return;
  isConfined = true;
  const next = options.vnode;
  options.vnode = vnode => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) confine(vnode.props);
    next?.(vnode);
  };
}

function confine(props: { children?: ComponentChildren }): void {
  if (props.children !== undefined) props.children = confined(props.children);
  for (const name of READ) {
    const value: unknown = Reflect.get(props, name);
    if (typeof value === 'string') Reflect.set(props, name, ownDirection(value));
  }
}

function confined(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return ownDirection(children);
  return Array.isArray(children) ? children.map(confined) : children;
}
