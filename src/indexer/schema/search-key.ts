/** Maximum characters of a key. A cursor contains a whole key. */
const KEY_CHARACTERS = 128;

/**
 * Normal form in which names are stored and compared. Ignores letter case, width of characters, control characters and
 * repeated spaces. Empty for a name without visible characters.
 */
export function searchKey(name: string): string {
  const folded = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return [...folded].slice(0, KEY_CHARACTERS).join('').trimEnd();
}

/** Words of one text by which it is found; later ones are not searched. */
const WORDS = 8;

/**
 * Keys under which a text is found: its own, and what remains of it at the start of each later word (Decision 436). Empty
 * for a text without visible characters.
 */
export function searchTerms(text: string): readonly string[] {
  const key = searchKey(text);
  if (key === '') return [];
  const words = key.split(' ');
  return words.slice(0, WORDS).map((_, start) => words.slice(start).join(' '));
}
