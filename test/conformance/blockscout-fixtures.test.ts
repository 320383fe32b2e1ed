import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANSWERED_OPERATIONS } from '../lab/answered-operations.ts';
import { type Fixture, fixturesOf } from '../lab/blockscout-fixtures.ts';
import { blockscoutChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { OURS_ONLY } from './limits.ts';

/** Bodies without any data of the contract: they must never reach a client. */
const UNREADABLE = new Set(['getTransactionRawTrace/v11-opcodes']);
/** Query of a fixture without its position, which belongs to its own generation. */
const FILTERS = new Set(['q', 'filter', 'type', 'method']);
const OURS: readonly string[] = OURS_ONLY;
const OPERATIONS = ANSWERED_OPERATIONS.map(({ id }) => id).filter(id => !OURS.includes(id));

let served: Fixture | undefined;
let upstream: ScriptedUpstream;
let service: TestDataService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(({ path, query }) => {
    if (path !== served?.path.split('?')[0]) return { status: 404, json: { message: 'Not found' } };
    const isFirstPage = [...query.keys()].every(name => FILTERS.has(name));
    return isFirstPage
      ? { text: served.text, type: 'application/json; charset=utf-8' }
      : { json: { items: [], next_page_params: null } };
  });
  service = await startTestDataService([], {
    chains: [blockscoutChain(1, upstream.url)],
    rateLimitPerMinute: 100_000,
    // All fixtures of an operation share one path, so nothing may be cached.
    cache: { maxBytes: 1, lifetimes: { finalMs: 1, movingMs: 1, unsettledMs: 1, overrides: {} } },
  });
});

afterAll(async () => {
  await service.close();
  await upstream[Symbol.asyncDispose]();
});

test('every operation of Blockscout has fixtures of at least three generations, each with its source', () => {
  const entries = readdirSync(new URL('../fixtures/blockscout/', import.meta.url), { withFileTypes: true });
  const folders = entries
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

  expect(folders).toEqual([...OPERATIONS].sort());
  for (const id of OPERATIONS) {
    const generations = new Set(fixturesOf(id).map(({ version }) => version.split('.')[0]));
    expect(generations.size, id).toBeGreaterThanOrEqual(3);
  }
});

test.each(OPERATIONS.flatMap(id => fixturesOf(id).map(fixture => ({ id, fixture }))))(
  'the body of $id of $fixture.name is answered in the form of the contract',
  async ({ id, fixture }) => {
    served = fixture;
    const [path = '', query = ''] = fixture.path.split('?');
    const kept = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => FILTERS.has(name)));

    const response = await fetch(`${service.url}/explorer${path}?${kept}`);

    // The service checks its own answers here, so a 200 is valid.
    expect([response.status, await response.text()]).toEqual([
      UNREADABLE.has(`${id}/${fixture.name}`) ? 502 : 200,
      expect.any(String),
    ]);
  },
);
