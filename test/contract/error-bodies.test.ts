import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorBodies } from '../../src/contract/contracts/contract.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { HttpError } from '../../src/http/errors.ts';
import { type Served, serve } from '../http/serve.ts';
import { type SmallOperations, smallContract } from '../support/small-contract.ts';

/** The small contract with its own form of errors. */
const contract = {
  ...smallContract,
  document: { ...smallContract.document, 'x-errors': { below: '/things', property: 'error' } },
};
let served: Served;

beforeAll(async () => {
  const route = await mount<SmallOperations>({
    contract,
    handlers: {
      readThing: async ({ path: { id } }) => {
        if (id === 'bug') throw new Error('secret');
        throw new HttpError(404, 'There is no such thing');
      },
      writeThing: async ({ path: { id } }) => ({ status: 200, body: { id } }),
    },
    validateResponses: true,
  });
  served = await serve([route], { formatError: errorBodies([{ name: 'plain', document: {} }, contract]) });
});
afterAll(() => served[Symbol.asyncDispose]());

describe('below a contract’s own path, an error has the contract’s own property', () => {
  test.each([
    ['an error of a handler', 'GET', '/things/a', 404, 'There is no such thing'],
    ['an internal error', 'GET', '/things/bug', 500, 'Internal server error'],
    [
      'a parameter that breaks a rule',
      'GET',
      '/things/a?count=11',
      400,
      'count: must be an integer from 0 to 10',
    ],
    ['a broken escape', 'GET', '/things/%zz', 400, 'The request target holds a malformed percent escape'],
    ['a missing credential', 'PUT', '/things/a', 401, 'No valid credentials were given'],
    ['another method', 'POST', '/things/a', 405, 'POST is not allowed here'],
    ['an unknown path', 'GET', '/things/a/b?c=/d', 404, 'Not found'],
    ['the path itself', 'GET', '/things', 404, 'Not found'],
  ])('%s', async (_name, method, target, status, error) => {
    const answer = await fetch(served.url + target, { method });

    expect([answer.status, await answer.json()]).toEqual([status, { error }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

test.each(['/', '/thingsandmore', '/other/things/a', '/?/things/'])(
  'at %s, outside of that path, it is a message',
  async target => {
    const answer = await fetch(served.url + target);

    expect([answer.status, await answer.json()]).toEqual([404, { message: 'Not found' }]);
  },
);

test('a contract with an incomplete declaration is refused', () => {
  const document = { 'x-errors': { below: '/things' } };

  expect(() => errorBodies([{ name: 'half', document }])).toThrow('half: x-errors must name');
});
