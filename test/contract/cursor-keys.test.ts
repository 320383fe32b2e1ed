import { expect, test } from 'vitest';
import {
  child,
  type JsonObject,
  list,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';

const { document } = explorerContract;

/** Keys of `next_page_params` of an operation's page; empty for an operation without pages. */
function cursorKeys(operation: JsonObject): string[] {
  const ok = resolve(document, child(operation, 'responses')['200']);
  const page = resolve(document, child(child(ok, 'content'), 'application/json').schema);
  const position = resolve(document, child(page, 'properties').next_page_params);
  return list(position, 'oneOf').flatMap(one => Object.keys(child(resolve(document, one), 'properties')));
}

test('every key that a list returns is a parameter of the list', () => {
  const lists = operationsOf(document).map(({ path, operation }) => {
    const names = parametersOf(document, path, operation).map(({ name }) => name);
    const keys = cursorKeys(operation);
    return { id: operation.operationId, keys: keys.length, lost: keys.filter(key => !names.includes(key)) };
  });

  expect(lists.filter(({ keys }) => keys > 0).length).toBeGreaterThan(15);
  expect(lists.filter(({ lost }) => lost.length > 0)).toEqual([]);
});
