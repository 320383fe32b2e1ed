import { expect, test } from 'vitest';
import type { Db } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { errorOf, PLACE, startPaymentsApi } from '../../support/payments-api.ts';

const PATH = '/api/v1/transactions/export';

/** Number of rows in a result of either driver. */
function lengthOf(result: unknown): number {
  return list(Array.isArray(result) ? result : (record(result).rows ?? [])).length;
}

/** Adds copies of the only transaction of a database. */
async function copyTransaction(db: Db, copies: number): Promise<void> {
  const [row] = await rowsOf<Record<string, unknown>>(db, 'select * from transactions');
  const columns = Object.keys(row ?? {});
  const values = columns.map(column => {
    if (column === 'id') return "'txn_0000000000000000' || cast(10000000 + i as text)";
    return column === 'log_index' ? 'i' : column;
  });
  await execute(
    db,
    `insert into transactions (${columns.join(', ')})
     with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${copies})
     select ${values.join(', ')} from transactions, numbers`,
  );
}

eachDatabase('the export', databases => {
  test('is complete up to 50,000 transactions and refused beyond', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const merchant = await api.merchant();
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '100' });
    await merchant.post(`/api/v1/test/sessions/${text(record(body).id)}/simulate`, { outcome: 'completed' });
    await copyTransaction(api.db, 50_000);

    expect(errorOf(await merchant.get(PATH))).toBe('400 invalid_field_value');

    await execute(api.db, 'delete from transactions where log_index = 1');
    const read: number[] = [];
    api.db.on('query-response', (rows: unknown) => read.push(lengthOf(rows)));
    const lines = text((await merchant.get(PATH)).body).split('\r\n');
    // Reading all of them in one statement would keep other requests waiting.
    expect(Math.max(...read)).toBe(1_001);
    expect(lines).toHaveLength(50_002);
    expect(new Set(lines.map(line => line.split(',')[1])).size).toBe(50_002);
  });
});
