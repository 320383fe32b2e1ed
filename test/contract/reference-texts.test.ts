import { expect, test } from 'vitest';
import { child } from '../../src/contract/contracts/document.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { PAYMENTS_ERRORS } from '../../src/contract/contracts/payments-errors.ts';
import { FIELDS } from '../../src/data/backends/port/query-fields.ts';

test('sort_by lists every field of every kind of record', () => {
  const { description } = child(
    child(child(insightsContract.document, 'components'), 'parameters'),
    'SortBy',
  );
  const listed = [...String(description).matchAll(/^- of (\w+): ([^.]*)\.$/gms)].map(
    ([, entity, fields = '']) => [entity, [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field)],
  );

  expect(listed).toEqual(Object.entries(FIELDS).map(([entity, fields]) => [entity, Object.keys(fields)]));
});

test('the table of error codes has the type and the status of each', () => {
  const { description } = child(
    child(child(paymentsContract.document, 'components'), 'schemas'),
    'ErrorCode',
  );
  const rows = String(description).matchAll(/^\| `(\w+)` \| `(\w+)` \| (\d+) \| \S.*\. \|$/gm);
  const table = [...rows].map(([, code = '', type, status]) => [code, { type, status: Number(status) }]);

  expect(Object.fromEntries(table)).toEqual(PAYMENTS_ERRORS);
});
