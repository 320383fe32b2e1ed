/** Characters of a name that tokens are sorted by. */
export const RANKED_CHARACTERS = 64;

/** What a token without a name is sorted by: behind every name. */
export const NAMELESS_RANK = '\u{10FFFF}';
