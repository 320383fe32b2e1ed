import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Envelope, type Ground, pathOf, type Row } from './ground.ts';

const SIGNATURE = 'Transfer(address,address,uint256)';
const ANYBODY = `0x${'11'.repeat(20)}`;

/** Chains to name explicitly: otherwise a missing ABI or price is also looked up on the unavailable chain, a 500. */
const UP = ['31337', '31338'];

/** The seven parameters whose text the original service put into its SQL. */
const PLACES: Readonly<Record<string, (text: string) => string[]>> = {
  aggregate: text => [
    pathOf('/transactions', { aggregate: text }),
    pathOf('/blocks', { aggregate: ['count() as n', `max(gas_used) as ${text}`] }),
  ],
  group_by: text => [
    pathOf('/transactions', { group_by: text, aggregate: 'count()' }),
    pathOf('/blocks', { group_by: ['miner', text] }),
  ],
  sort_order: text => [
    pathOf('/transactions', { sort_order: text }),
    pathOf('/blocks', { sort_order: `asc ${text}` }),
    pathOf('/blocks', { sort_by: text }),
  ],
  'filter keys': text => [
    pathOf('/transactions', { [`filter_${text}`]: '1' }),
    pathOf('/blocks', { [`filter_block_number_${text}`]: '1' }),
  ],
  'filter values': text => [
    pathOf('/transactions', { filter_hash: text }),
    pathOf('/transactions', { filter_value_gte: text }),
    pathOf('/transactions', { filter_from_address: text }),
    pathOf('/transactions', { filter_function_selector: text }),
    pathOf(`/events/${ANYBODY}/${SIGNATURE}`, { filter_topic_1: text }),
    pathOf('/events', { filter_topic_0: text }),
    pathOf('/events', { filter_address: text }),
  ],
  _in: text => [
    pathOf('/transactions', { filter_from_address_in: text }),
    pathOf('/blocks', { filter_block_number_in: `1,${text}` }),
  ],
  addresses: text => [
    pathOf(`/wallets/${encodeURIComponent(text)}/transactions`),
    pathOf(`/events/${encodeURIComponent(text)}`),
    pathOf(`/transactions/${encodeURIComponent(text)}`),
    pathOf(`/events/${encodeURIComponent(text)}/${SIGNATURE}`),
    pathOf(`/events/${ANYBODY}/${encodeURIComponent(text)}`),
    pathOf(`/nfts/transfers/${encodeURIComponent(text)}`),
    pathOf(`/contracts/abi/${encodeURIComponent(text)}`, { chain_id: UP }),
    pathOf('/tokens/price', { address: text, chain_id: UP }),
  ],
};

/** Places where any text is valid. */
const resolved = (text: string) => [pathOf(`/resolve/${encodeURIComponent(text)}`)];

const HOSTILE = [
  "'",
  '"',
  "' or '1'='1",
  "'; drop table transactions; --",
  '1; delete from blocks',
  '1 union select sql from sqlite_master',
  ') from transactions; attach database ":memory:" as x; --',
  '(select count(*) from sqlite_master)',
  "load_extension('x')",
  'sum(value) filter (where 1=1)',
  'count() /* */ ; --',
  'randomblob(1000000000)',
  'value) or (1=1',
  'block_number desc; select 1',
  '`value`',
  '[value]',
  '? ?1 :x @x $x',
  "x'41'",
  '%00',
  '\u0000',
  '\n--\n',
  '__proto__',
  'toString();',
  '../../etc/passwd',
  '{{7*7}}',
  '$' + '{7*7}',
  "0x11' or 1=1 --",
  `${ANYBODY}' or 1=1 --`,
  `${ANYBODY},${ANYBODY} or 1=1`,
  "alice.eth' or 1=1 --",
  '('.repeat(400),
];

/** A caller's text never changes anything: it is refused or treated as a plain value. */
export function hostileTextsDoNothing(ground: () => Ground): void {
  describe('hostile texts', () => {
    test.each(Object.entries(PLACES))('in %s are a 400 and change nothing', async (_place, pathsOf) => {
      const { api } = ground();
      const before = await everythingOf(ground());
      for (const text of HOSTILE) {
        const answers = await Promise.all(
          pathsOf(text).map(async path => ({ path, ...(await api.get(path)) })),
        );
        for (const { path, status, body } of answers)
          expect([path, status, body]).toEqual([path, 400, { error: expect.any(String) }]);
      }

      expect(await everythingOf(ground())).toEqual(before);
    });

    test('of any kind in any place cause no failure and no change', async () => {
      const { api } = ground();
      const before = await everythingOf(ground());
      const text = fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).map(one => one.toWellFormed()),
        fc.string({ minLength: 1, maxLength: 60 }),
        fc
          .array(fc.constantFrom(...HOSTILE.slice(0, -1), 'count()', 'value', ' as ', ',', 'day', '1'), {
            minLength: 1,
            maxLength: 4,
          })
          .map(pieces => pieces.join('')),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...Object.values(PLACES), resolved),
          text,
          fc.nat(),
          async (pathsOf, tried, at) => {
            // A path of dots is normalised to another path by the client.
            const paths = pathsOf(tried).filter(
              path => new URL(path, 'http://localhost').pathname === path.split('?')[0],
            );
            const path = paths[at % paths.length];
            if (path === undefined) return;
            // The client throws for any answer outside the contract.
            const { status } = await api.get(path);
            expect([200, 400, 404]).toContain(status);
          },
        ),
        { numRuns: 300 },
      );

      expect(await everythingOf(ground())).toEqual(before);
    });
  });

  /** Uncached row counts, and digests of the schema's own tables. */
  async function everythingOf({ api, chains }: Ground): Promise<unknown[]> {
    const ids = chains.map(({ id }) => id);
    const paths = [
      pathOf('/blocks', { chain_id: ids, limit: 3, aggregate: 'count(), sum(gas_used), max(block_hash)' }),
      pathOf('/transactions', { chain_id: ids, limit: 3, aggregate: 'count(), sum(value), max(hash)' }),
      pathOf('/transactions', { chain_id: ids, limit: 20 }),
    ];
    return Promise.all(
      paths.map(async path => {
        const { status, body } = await api.get(path, { 'cache-control': 'no-cache' });
        const { data, aggregations }: Partial<Envelope<Row>> = JSON.parse(JSON.stringify(body));
        return [status, data, aggregations];
      }),
    );
  }
}
