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
