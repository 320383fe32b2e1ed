import { expect, test } from 'vitest';
import { child } from '../../src/contract/contracts/document.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { PAYMENTS_ERRORS } from '../../src/contract/contracts/payments-errors.ts';
import { withErrorCodes } from '../../src/contract/description/description.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { SORTABLE } from '../../src/query-model/fields.ts';

test('sort_by lists every field of every kind of record', () => {
  const { description } = child(
    child(child(insightsContract.document, 'components'), 'parameters'),
    'SortBy',
  );
  const listed = [...String(description).matchAll(/^- of (\w+): ([^.]*)\.$/gms)].map(
    ([, entity, fields = '']) => [entity, [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field)],
  );

  expect(listed).toEqual(Object.entries(SORTABLE));
});

test('the table of error codes has the type and status of each', () => {
  const { description } = child(
    child(child(paymentsContract.document, 'components'), 'schemas'),
    'ErrorCode',
  );
  const rows = String(description).matchAll(/^\| `(\w+)` \| `(\w+)` \| (\d+) \| \S.*\. \|$/gm);
  const table = [...rows].map(([, code = '', type, status]) => [code, { type, status: Number(status) }]);

  expect(Object.fromEntries(table)).toEqual(PAYMENTS_ERRORS);
});

test('operations list their error codes in their text', () => {
  const { paths } = withErrorCodes(paymentsContract.document);
  const path = child(
    child({ paths: paths ?? {} }, 'paths'),
    '/api/v1/checkout-sessions/{checkout_session_id}/expire',
  );
  const { description } = child(path, 'post');

  expect(description).toContain(
    '\n\nErrors: 400 `invalid_field_value`, `invalid_status_transition`; 401 `key_missing`,',
  );
  expect(description).toContain('; 409 `idempotency_conflict`; ');
  expect(description).not.toContain('duplicate_resource');
});

test('an answer with a code that its operation does not list breaks the contract', () => {
  const validate = responseValidators(paymentsContract.document)('listPaymentLinks', 400);
  const bodyOf = (code: string) => ({
    error: { type: 'invalid_request_error', code, message: 'It is refused.' },
  });

  expect(validate?.(bodyOf('invalid_field_value'))).toBe(true);
  expect(validate?.(bodyOf('no_updates_provided'))).toBe(false);
});
