import { expect, test } from 'vitest';
import { answerOf } from '#pages/browser/answer.ts';

/** Message that people see for an error of the API. */
function shown(
  error: { code: string; message: string; param?: string },
  headers: Readonly<Record<string, string>> = {},
) {
  const response = new Response(null, { status: 400, headers });
  return answerOf(Promise.resolve({ error: { error }, response })).catch(({ message }) => message);
}

test('an unknown id is told in words, not as the record kind of the API', async () => {
  const error = { code: 'resource_not_found', message: "No checkout_session with id 'cs_nope'." };

  expect(await shown(error)).toBe('There is no such record in this organization and mode.');
});

test('a long wait is told in minutes', async () => {
  const error = { code: 'rate_limit_exceeded', message: 'Retry after 3597 seconds.' };

  expect(await shown(error, { 'Retry-After': '3597' })).toBe('Too many requests. Try again in 60 min.');
  expect(await shown(error, { 'Retry-After': '30' })).toBe('Too many requests. Try again in 30 s.');
});

test('a page of an earlier session is to be reloaded', async () => {
  const error = { code: 'insufficient_permissions', message: 'The header …', param: 'X-CSRF-Token' };

  expect(await shown(error)).toBe('This page belongs to an earlier session. Reload it.');
});

test('any other error keeps the message of the API', async () => {
  const error = { code: 'invalid_field_value', message: "The 'amount' field must be positive." };

  expect(await shown(error)).toBe(error.message);
});
