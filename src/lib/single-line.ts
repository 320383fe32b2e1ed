/** Characters without width, and blanks. The tags at the end are part of flags such as that of Wales. */
const INVISIBLE = String.raw`\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e007f}`;
/** Control characters, separators of lines and paragraphs, and marks that turn the direction of text. */
const FORBIDDEN = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;

/** A line of text with something visible in it. The contracts have the same pattern. Decision 149. */
export const SINGLE_LINE = new RegExp(`^(?=.*[^${INVISIBLE}])[^${FORBIDDEN}]+$`, 'u');

/** True for a text that fits one line and shows at least one character. */
export function isSingleLine(text: string): boolean {
  return SINGLE_LINE.test(text);
}

/** Everything that ends a line or acts instead of being seen. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
/** What makes text read in another direction than it is written in: `gpj.exe` must not look like `exe.jpg`. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of somebody else as a part of one line: a subject, a list's row. Longer than `most` characters, it is cut. */
export function plainLine(text: string, most = 200): string {
  const line = text.replace(CONTROLS, ' ').replace(DIRECTIONS, '').trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
