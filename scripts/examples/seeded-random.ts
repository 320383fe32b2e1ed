import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Source files in a stack trace, from src/ on. */
const SOURCES = /src\/[\w./-]+\.ts/g;

/**
 * Makes `randomBytes` of this process deterministic, so that codes, secrets and amounts in recordings repeat. Each call
 * site has its own sequence, because the number of calls by background work depends on timing.
 */
export function seedRandomBytes(): void {
  const drawn = new Map<string, number>();
  const seeded = (size: number): Buffer => {
    const place = [size, ...(new Error().stack?.match(SOURCES) ?? [])].join(' ');
    const count = (drawn.get(place) ?? 0) + 1;
    drawn.set(place, count);
    return createHash('shake256', { outputLength: size }).update(`${place} ${count}`).digest();
  };
  Object.assign(crypto, { randomBytes: seeded });
  syncBuiltinESMExports();
}
