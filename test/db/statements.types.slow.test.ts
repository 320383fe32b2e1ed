import { expect, test } from 'vitest';
import { compilerMessages } from '../support/compiler-messages.ts';

const COMPILED: readonly string[] = [
  "handle('leases').where({ name, holder }).update({ expires_at: 1 });",
  "handle('leases').where('expires_at', '<=', 1).delete();",
  "handle('leases').insert(lease).onConflict(['name']).merge();",
];

const REFUSED: readonly string[] = [
  "handle('leases').where({ owner: name });",
  "handle('leases').where({ name: 1 });",
  "handle('leases').where('expires', '<=', 1);",
  "handle('leases').where('expires_at', '<=', name);",
  "handle('leases').whereNull('ended_at');",
  "handle('leases').whereIn('names', [name]);",
  "handle('leases').update({ expires: 1 });",
  "handle('leases').update(withOther);",
  "handle('leases').insert(withOther);",
  "handle('leases').insert([withOther]);",
  "handle('leases').insert(lease).onConflict('id').ignore();",
  "handle('leases').insert(lease).onConflict(['name', 'id']).merge();",
  "handle('leases').insert(lease).returning('id');",
  "handle('leases').forShare().select('id');",
];

test('a statement that names an unknown column or gives a value of another type does not compile', () => {
  const declared = `import type { Handle } from '../../src/db/open.ts';
    import '../../src/db/leader.ts';
    declare const handle: Handle; const [name, holder] = ['a', 'b'];
    const lease = { name, holder, expires_at: 1 }; const withOther = { ...lease, owner: 'c' };`;
  const text = [declared, ...COMPILED, ...REFUSED].join('\n');
  const first = declared.split('\n').length + COMPILED.length + 1;

  const messages = compilerMessages('test/db/program-of-this-test.ts', text);

  expect([...new Set(messages.map(({ line }) => line))]).toEqual(REFUSED.map((_, index) => first + index));
});

/** Selections, and what the compiler says about them; undefined for those that it accepts. */
const SELECTIONS: readonly (readonly [selection: string, message: string | undefined])[] = [
  ["select({ from: 'shops', columns: ['id', 'name as title'] });", undefined],
  ["select({ from: 'shop' });", '"shop"'],
  ["select({ from: 'shops', columns: ['names'] });", '"names"'],
  ["select({ ...joined, columns: ['s.*', 'h.name'] });", undefined],
  ["select({ from: 'sales s', join: ['shop h on h.id = s.shop'] });", '"shop h on h.id = s.shop"'],
  ["select({ ...joined, columns: ['h.amount'] });", '"h.amount"'],
  // Either table may have it.
  ["select({ ...joined, columns: ['amount'] });", '"amount"'],
  ["select({ ...joined, columns: ['s.id', 'h.id as shop_id'] });", undefined],
  ["select({ ...joined, columns: ['s.id', 'h.id'] });", 'columnsOfOneName: "id"'],
  ["select({ ...joined, columns: ['s.*', 'h.id'] });", 'columnsOfOneName: "id"'],
  ["select({ from: 'shops', columns: ['name'], computed: { id: ['count', '1'] } });", undefined],
  ["select({ from: 'shops', columns: ['id'], computed: { id: ['count', '1'] } });", 'columnsOfOneName: "id"'],
];

test('a selection of unknown tables and columns, or of two columns of one name, does not compile', () => {
  const declared = `import { selectFrom } from '../../src/db/select/select.ts';
    interface Tables { shops: { id: number; name: string }; sales: { id: number; shop: number; amount: string } }
    const select = selectFrom<Tables>();
    const joined = { from: 'sales s', join: ['shops h on h.id = s.shop'] } as const;`;
  const text = [declared, ...SELECTIONS.map(([selection]) => selection)].join('\n');
  const before = declared.split('\n').length;

  const messages = compilerMessages('test/db/program-of-this-test.ts', text);

  const found = SELECTIONS.map(
    (_, index) => messages.find(({ line }) => line === before + 1 + index)?.message,
  );
  expect(messages).toHaveLength(SELECTIONS.filter(([, message]) => message !== undefined).length);
  expect(found).toEqual(
    SELECTIONS.map(([, message]) => (message === undefined ? undefined : expect.stringContaining(message))),
  );
});
