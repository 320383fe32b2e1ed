import { LRUCache } from 'lru-cache';
import type { Coding } from './representation.ts';

/** Best first at equal wishes: what is smallest for the client. */
const OFFERED: readonly Coding[] = ['br', 'gzip', 'identity'];
const IDENTITY_ONLY: readonly Coding[] = ['identity'];
const LONGEST_REMEMBERED = 256;

/** Clients send a handful of different headers, so each is parsed once. */
const remembered = new LRUCache<string, readonly Coding[]>({ max: 500 });

/**
 * The codings that an Accept-Encoding header allows, best first (RFC 9110, 12.5.3): by q, then br, gzip, identity;
 * q=0 forbids, `*` stands for the unnamed. Identity closes the list when nothing else is left: an answer in
 * a form that was not asked for serves a client better than a 406.
 */
export function acceptedCodings(header: string | undefined): readonly Coding[] {
  if (header === undefined || header === '') return IDENTITY_ONLY;
  const known = remembered.get(header);
  if (known !== undefined) return known;
  const codings = parse(header);
  if (header.length <= LONGEST_REMEMBERED) remembered.set(header, codings);
  return codings;
}

function parse(header: string): readonly Coding[] {
  const wishes = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim());
    if (name !== '') wishes.set(name === 'x-gzip' ? 'gzip' : name, quality(parameters));
  }
  const rest = wishes.get('*');
  const wishFor = (coding: Coding) =>
    wishes.get(coding) ?? rest ?? (coding === 'identity' ? UNNAMED_IDENTITY : 0);
  const allowed = OFFERED.filter(coding => wishFor(coding) > 0);
  const sorted = allowed.sort((a, b) => wishFor(b) - wishFor(a)); // the sort is stable, so ties keep our order
  return sorted.includes('identity') ? sorted : [...sorted, 'identity'];
}

/** Identity is acceptable without being named, but less than anything that was. */
const UNNAMED_IDENTITY = 0.0001;

function quality(parameters: string[]): number {
  const given = parameters.find(parameter => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const value = Number(given.slice(2));
  return value >= 0 && value <= 1 ? value : 0; // a wish that cannot be read is not granted
}
