import { expect } from 'vitest';
import { test as watchedTest } from './watched-shop.ts';

const test = watchedTest
  /** The SQL of one look, 3 s after the one before. */
  .extend('statementsOfLook', ({ ours }) => async (): Promise<string[]> => {
    const statements: string[] = [];
    const keep = ({ sql }: { sql: string }) => statements.push(sql);
    ours.db.on('query', keep);
    await ours.round();
    ours.db.removeListener('query', keep);
    return statements;
  });

test('the open payments of a chain are read once per look', async ({
  chain,
  ours,
  payment,
  statementsOfLook,
}) => {
  const { amountDue } = await ours.open();
  await payment(amountDue);
  await chain.mine(1);
  await ours.round();

  await chain.mine(1);
  const statements = await statementsOfLook();

  expect(statements.filter(sql => sql.includes("status in ('pending', 'confirming')"))).toHaveLength(1);
});
