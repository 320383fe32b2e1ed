import { isObject } from '#lib/json.ts';

/** End of a page in a back end's own terms. Small; values are text, integers or null. */
export type CursorPosition = Readonly<Record<string, string | number | null>>;

/** Position of a page walk. The walk continues with the same back end of the same chain. */
export interface Cursor {
  readonly backend: string;
  readonly chainId: number;
  readonly position: CursorPosition;
}

/** Encodes a cursor as an opaque token: URL-safe base64 of a compact JSON array. */
export function encodeCursor({ backend, chainId, position }: Cursor): string {
  return Buffer.from(JSON.stringify([backend, chainId, position])).toString('base64url');
}

/** Decodes a token. Returns undefined for text that we did not write. */
export function decodeCursor(token: string): Cursor | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) return undefined;
  const [backend, chainId, position]: unknown[] = parsed;
  if (typeof backend !== 'string' || typeof chainId !== 'number' || !isPosition(position)) return undefined;
  return { backend, chainId, position };
}

function isPosition(value: unknown): value is CursorPosition {
  return isObject(value) && Object.values(value).every(isPositionValue);
}

/** No text has NUL, as in every other parameter, because PostgreSQL cannot compare it. */
function isPositionValue(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0');
  return value === null || Number.isSafeInteger(value);
}
