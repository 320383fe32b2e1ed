/** Characters by which names are told apart; a cursor holds one whole key. */
const KEY_CHARACTERS = 128;

/**
 * The form in which names are kept and compared: no matter the letter case, the width of characters, control
 * characters or the number of spaces. Empty for a name in which nothing shows.
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
