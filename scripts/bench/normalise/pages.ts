import { readFileSync } from 'node:fs';

const FIXTURES = new URL('../../../test/fixtures/blockscout/', import.meta.url);
const ITEMS = 50;
const HASHES = ['hash', 'block_hash', 'transaction_hash'];
const NUMBERS = ['block_number', 'height', 'index', 'log_index', 'nonce', 'position'];

type Item = Readonly<Record<string, unknown>>;

/**
 * Text of a page of 50 items, which repeat those of a fixture or the fixture itself. Each gets its own hashes and
 * numbers, and the fields of `more`.
 */
export function pageOf(fixture: string, more: Item = {}): string {
  const own = itemsOf(fixture);
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    ...numbered(own[at % own.length] ?? {}, at),
    ...more,
  }));
  const params = { block_number: 19_854_321, index: 68, items_count: ITEMS };
  return JSON.stringify({ items, next_page_params: params });
}

/** Items of a fixture. Numbers keep their original text, because 1.2e4 may take longer to parse than 12000. */
function itemsOf(fixture: string): readonly Item[] {
  const text = readFileSync(new URL(`${fixture}.json`, FIXTURES), 'utf8');
  const body: unknown = JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  );
  if (!isItem(body)) throw new Error(`${fixture} is not an object`);
  return Array.isArray(body.items) ? body.items.filter(isItem) : [body];
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null;
}

function numbered(item: Item, at: number): Item {
  const hash = `0x${(at + 1).toString(16).padStart(64, 'e')}`;
  const change = (name: string, value: unknown) => {
    if (typeof value === 'string' && HASHES.includes(name)) return hash;
    return isItem(value) && NUMBERS.includes(name) ? 19_000_000 + at : value;
  };
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, change(name, value)]));
}
