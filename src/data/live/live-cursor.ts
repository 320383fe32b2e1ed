/** Last block of a chain that a client knows. */
export interface ChainPosition {
  readonly number: number;
  /** Lower case. */
  readonly hash: string;
}

/** Last known block by chain id. */
export type LivePositions = ReadonlyMap<number, ChainPosition>;

/** Writes the `id` of an event: URL-safe base64 of a JSON list with chain, number and hash of each block. */
export function liveCursor(positions: LivePositions): string {
  const list = [...positions].map(([chainId, { number, hash }]) => [
    chainId,
    number,
    Buffer.from(hash.slice(2), 'hex').toString('base64url'),
  ]);
  return Buffer.from(JSON.stringify(list)).toString('base64url');
}

/** Reads the `id` of an event. Undefined for a text that no stream has sent. */
export function readLiveCursor(token: string): LivePositions | undefined {
  let list: unknown;
  try {
    list = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const positions = new Map<number, ChainPosition>();
  for (const entry of list) {
    const position = positionIn(entry);
    if (position === undefined) return undefined;
    positions.set(...position);
  }
  return positions;
}

const HASH_BYTES = 32;

function positionIn(entry: unknown): [chainId: number, ChainPosition] | undefined {
  if (!Array.isArray(entry) || entry.length !== 3) return undefined;
  const [chainId, number, hash]: unknown[] = entry;
  if (!isNumber(chainId) || !isNumber(number) || typeof hash !== 'string') return undefined;
  const bytes = Buffer.from(hash, 'base64url');
  if (bytes.length !== HASH_BYTES) return undefined;
  return [chainId, { number, hash: `0x${bytes.toString('hex')}` }];
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
