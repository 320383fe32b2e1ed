/** Leading characters of a name that tokens are sorted by. */
export const RANKED_CHARACTERS = 64;

/** Sort key of a token without a name. Sorts after every name. */
export const NAMELESS_RANK = '\u{10FFFF}';
