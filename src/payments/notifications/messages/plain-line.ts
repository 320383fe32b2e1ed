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
