import { type FormatError, messageOnly } from '../../http/errors.ts';
import type { Contract } from './contract.ts';
import { child } from './document.ts';

/**
 * Words the errors of several contracts behind one app. `x-errors` of a document says under which path, unknown paths
 * included, the body is an object with one property of another name; everywhere else it is `{ message }`.
 */
export function errorBodies(contracts: readonly Pick<Contract<unknown>, 'name' | 'document'>[]): FormatError {
  const families = contracts.flatMap(familyOf);
  return (status, message, request) => {
    const family = families.find(({ below }) => isBelow(request.path, below));
    return family === undefined ? messageOnly(status, message, request) : { [family.property]: message };
  };
}

function familyOf({ name, document }: Pick<Contract<unknown>, 'name' | 'document'>) {
  if (document['x-errors'] === undefined) return [];
  const { below, property } = child(document, 'x-errors');
  if (typeof below !== 'string' || typeof property !== 'string') {
    throw new Error(`${name}: x-errors must say below which path and by which property`);
  }
  return [{ below, property }];
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
