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
