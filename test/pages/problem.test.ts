import { expect, test } from 'vitest';
import { answerOf } from '#pages/browser/answer.ts';
import { besideField, boxText } from '#pages/browser/problem.ts';

/** Message that people see for an error of the API. */
function shown(
  error: { code: string; message: string; param?: string },
  headers: Readonly<Record<string, string>> = {},
) {
  const response = new Response(null, { status: 400, headers });
  return answerOf(Promise.resolve({ error: { error }, response })).catch(({ message }) => message);
}

test('an unknown id is described in words, not as the record kind of the API', async () => {
  const error = { code: 'resource_not_found', message: "No checkout_session with id 'cs_nope'." };

  expect(await shown(error)).toBe('There is no such record in this organization and mode.');
});

test('a long wait is given in minutes', async () => {
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

const AMOUNT = {
  message: "The 'min_amount' field must be a positive decimal integer below 2^256 without leading zeros.",
};

test('a field shows the rule in the words of a form', () => {
  expect(besideField(AMOUNT)).toBe('The field must be an amount above 0.');
  expect(besideField({ message: "The 'name' field is required." })).toBe('Please fill this in.');
  expect(besideField({ message: "The 'email_enabled' field cannot be true without an email_address." })).toBe(
    'The field needs an email address.',
  );
});

test('the box of a form points to the marked field, or names it in words', () => {
  expect(boxText(AMOUNT, true)).toBe('Please correct the marked field.');
  expect(boxText(AMOUNT, false)).toBe('The field “min amount” must be an amount above 0.');
  expect(boxText({ message: 'The server could not be reached.' }, false)).toBe(
    'The server could not be reached.',
  );
});
