import { isObject } from '#lib/json.ts';

/** Where a page ended, in a back end's own terms: small, and text, integers or null only. */
export type CursorPosition = Readonly<Record<string, string | number | null>>;

/** A page walk goes on where it came from: with this back end of this chain. */
export interface Cursor {
  readonly backend: string;
  readonly chainId: number;
  readonly position: CursorPosition;
}

/** An opaque token: URL-safe base64 of a compact JSON array. */
export function encodeCursor({ backend, chainId, position }: Cursor): string {
  return Buffer.from(JSON.stringify([backend, chainId, position])).toString('base64url');
}

/** The cursor behind a token, or undefined for text that we did not write. */
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
  return (
    isObject(value) &&
    Object.values(value).every(
      member => member === null || typeof member === 'string' || Number.isSafeInteger(member),
    )
  );
}
