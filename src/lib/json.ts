declare global {
  interface JSON {
    /** A value that JSON.stringify writes exactly as `text` says (Node 22 and later; not yet in TypeScript's library). */
    rawJSON(text: string): object;
  }
}

/** JSON text in which every bigint is its exact integer literal. Throws TypeError on a cycle, as JSON.stringify does. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value); // most bodies hold no bigint, and a replacer makes stringify several times slower
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, exactIntegers);
  }
}

/** JSON text that is equal for equal values: keys sorted at every depth, bigints as in `toJson`. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => exactIntegers(_key, sortedKeys(inner)));
}

function exactIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
