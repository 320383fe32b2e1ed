import { entityTag, formsAreEqual, inOwnBlocks, type Representation } from '../../http/representation.ts';
import { isObject } from '../../lib/json.ts';
import type { Entry } from './entry.ts';

/** Entry with its key. */
export interface StoredEntry extends Entry {
  readonly key: string;
}

/** Entry of another key. Indicates a connection whose replies are out of step with its commands. */
export class ForeignEntry extends Error {
  override readonly name = 'ForeignEntry';
}

/**
 * Checks everything in an entry that is sent or evaluated, because the store may hold data of another program, and
 * returns it without its key. Compressed forms are decompressed once here, so that no later request checks them.
 * @throws ForeignEntry when it is the entry of another key
 * @throws Error when a field is missing or wrong, or a body does not match its tag
 */
export async function intactEntry(stored: unknown, key: string): Promise<Entry> {
  if (!isStoredEntry(stored)) throw new Error('an entry of the store lacks fields, or has wrong ones');
  const { key: storedKey, ...entry } = stored;
  if (storedKey !== key) throw new ForeignEntry('the store gave the entry of another key');
  const { representation } = entry;
  const isWhole =
    entityTag(representation.identity) === representation.etag && (await formsAreEqual(representation));
  if (!isWhole) throw new Error('an entry of the store is damaged');
  return { ...entry, representation: inOwnBlocks(representation) };
}

type Test = (value: unknown) => boolean;

/** Backend names, chain ids and times are parts of headers. */
const NAME = /^[\w.-]{1,100}$/;
const isText: Test = value => typeof value === 'string';
const isName: Test = value => typeof value === 'string' && NAME.test(value);
const isWhole: Test = value => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isListOf =
  (isItem: Test): Test =>
  value =>
    Array.isArray(value) && value.every(isItem);
const orAbsent =
  (test: Test): Test =>
  value =>
    value === undefined || test(value);
const isBytes: Test = value => Buffer.isBuffer(value);

const REPRESENTATION_TESTS: Readonly<Record<keyof Representation, Test>> = {
  etag: isText,
  identity: isBytes,
  br: orAbsent(isBytes),
  gzip: orAbsent(isBytes),
};

const ENTRY_TESTS: Readonly<Record<keyof StoredEntry, Test>> = {
  key: isText,
  representation: value => passes(value, REPRESENTATION_TESTS),
  chainIds: isListOf(isWhole),
  backends: isListOf(isName),
  watched: orAbsent(isListOf(isName)),
  storedAt: isWhole,
  freshUntil: isWhole,
  revalidateUntil: orAbsent(isWhole),
  keepUntil: isWhole,
  final: value => typeof value === 'boolean',
  revision: orAbsent(isText),
  epoch: orAbsent(isText),
};

function isStoredEntry(value: unknown): value is StoredEntry {
  return passes(value, ENTRY_TESTS);
}

function passes(value: unknown, tests: Readonly<Record<string, Test>>): boolean {
  return isObject(value) && Object.entries(tests).every(([name, test]) => test(value[name]));
}
