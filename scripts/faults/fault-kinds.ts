import type { Fields } from '../../src/data/backends/upstream-json/fields.ts';
import { isObject } from '../../src/lib/json.ts';
import type { TrueAnswer } from '../../test/lab/instance-world.ts';
import type { Behaviour } from '../../test/lab/scripted-upstream.ts';
import type { Random } from './random.ts';

/** Input of a fault. */
interface Making {
  readonly honest: TrueAnswer;
  /** A true answer to another question of the same kind; undefined when the two could not be told apart. */
  readonly other: TrueAnswer | undefined;
  /** Secrets that no client may see: the key of the request and the address of the upstream. */
  readonly secrets: string;
  readonly random: Random;
}

/** Makes one fault; undefined when this answer cannot have it. */
export type MakeFault = (making: Making) => Behaviour | undefined;

const HTML = '<!doctype html><title>Just a moment...</title>';
/** Fields that identify a record. */
const IDENTITIES = ['hash', 'height', 'index', 'id'] as const;

const refusal =
  (status: number, headers: Readonly<Record<string, string>> = {}): MakeFault =>
  ({ secrets }) => ({ json: { message: `refused: ${secrets}`, error: secrets }, status, headers });
const page =
  (status: number): MakeFault =>
  ({ secrets }) => ({ text: `${HTML}${secrets}`, type: 'text/html', status });
const cut =
  (where: 'before headers' | 'after headers' | 'within the body'): MakeFault =>
  () => ({ cut: where });

/** All faults of upstreams, by name. */
export const FAULTS = {
  'slow answer': ({ honest, random }) => ({ ...honest, latencyMs: random.between(20, 900) }),
  'answer too late': ({ honest, random }) => ({ ...honest, latencyMs: random.between(1_000, 1_800) }),
  silence: () => 'silence',
  'slow drip': () => ({ drip: `{"items":[${' '.repeat(100)}`, everyMs: 25 }),
  'cut before headers': cut('before headers'),
  'cut after headers': cut('after headers'),
  'cut within the body': cut('within the body'),
  'not HTTP': () => ({ raw: 'SSH-2.0-OpenSSH_9.7\r\n' }),
  '401': refusal(401),
  '402 with a reset': refusal(402, { 'x-ratelimit-reset': '20000' }),
  '403': refusal(403),
  '403 HTML': page(403),
  '404 HTML': page(404),
  '429 with a reset': refusal(429, { 'x-ratelimit-reset': '5000' }),
  '429 to retry later': refusal(429, { 'retry-after': '7' }),
  '429 without a word': refusal(429),
  '500': refusal(500),
  '500 bare string': () => ({ json: 'Internal server error', status: 500 }),
  '400 bare string': () => ({ json: 'Bad request', status: 400 }),
  '502 HTML': page(502),
  '503': refusal(503),
  '504 HTML': page(504),
  '200 HTML': page(200),
  '200 bare string': ({ secrets }) => ({ json: secrets }),
  'empty body': () => ({ text: '', type: 'application/json' }),
  'wrong content type': ({ honest }) => ({ text: JSON.stringify(honest.json), type: 'text/html' }),
  'endless body': () => ({ endless: 'text' }),
  'endless gzip': () => ({ endless: 'gzip' }),
  'truncated gzip': () => ({ truncated: 'gzip' }),
  'half-made record': ({ honest: { status, json }, random }) => {
    const damaged = halfMade(json, random);
    return status === 200 && damaged !== undefined ? { json: damaged } : undefined;
  },
  'another record': ({ other }) => (other?.status === 200 ? other : undefined),
} as const satisfies Readonly<Record<string, MakeFault>>;

export type FaultName = keyof typeof FAULTS;

/**
 * Faults that fill memory or pause an upstream. They are rare, because otherwise requests would meet no other faults.
 */
export const RARE: readonly FaultName[] = [
  'endless body',
  'endless gzip',
  '402 with a reset',
  '429 with a reset',
  '429 to retry later',
  '429 without a word',
];
/** Faults that look like valid answers. */
export const DECEITFUL: readonly FaultName[] = ['half-made record', 'another record'];
/** Faults that all requests meet during an outage of an instance. */
export const OUTAGES: readonly FaultName[] = [
  'silence',
  'cut before headers',
  '429 with a reset',
  '503',
  '502 HTML',
  'answer too late',
];

/** Removes the identity from a record, or from one record of a list. */
function halfMade(json: unknown, random: Random): unknown {
  if (Array.isArray(json)) return oneDamaged(json, random);
  if (!isObject(json)) return undefined;
  if (!Array.isArray(json.items)) return withoutIdentity(json);
  const items = oneDamaged(json.items, random);
  return items === undefined ? undefined : { ...json, items };
}

function oneDamaged(items: readonly unknown[], random: Random): unknown[] | undefined {
  const at = random.below(items.length);
  const record = items[at];
  const damaged = isObject(record) ? withoutIdentity(record) : undefined;
  return damaged === undefined ? undefined : items.with(at, damaged);
}

function withoutIdentity(record: Fields): Fields | undefined {
  const name = IDENTITIES.find(one => one in record);
  return name === undefined ? undefined : { ...record, [name]: null };
}
