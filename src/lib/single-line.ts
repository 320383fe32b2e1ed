/** Invisible characters and blanks. The tag characters at the end are part of some flags, such as that of Wales. */
const INVISIBLE = String.raw`\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e007f}`;
/** Control characters, line and paragraph separators, and marks that change the text direction. */
const FORBIDDEN = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;

/** One line of text with a visible character. The contracts have the same pattern (Decision 149). */
export const SINGLE_LINE = new RegExp(`^(?=.*[^${INVISIBLE}])[^${FORBIDDEN}]+$`, 'u');

/** True for a text that fits one line and shows at least one character. */
export function isSingleLine(text: string): boolean {
  return SINGLE_LINE.test(text);
}

/** Control characters and line separators. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
/** Marks that change the text direction: `gpj.exe` must not appear as `exe.jpg`; and spaces without width. */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Makes untrusted text safe as part of one line, such as a subject or a list item. Text longer than `most` characters
 * is cut.
 */
export function plainLine(text: string, most = 200): string {
  const line = text.replace(CONTROLS, ' ').replace(UNSEEN, '').trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
