import type { JsonObject } from '../../src/contract/contracts/document.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { toJson } from '../../src/lib/json.ts';

/** Violations of a contract by a body as the 200 answer of an operation, one line each; `[]` when it is valid. */
export async function violations(
  document: JsonObject,
  operationId: string,
  body: unknown,
): Promise<string[]> {
  const validate = responseValidators(document)(operationId, 200);
  if (validate === undefined) throw new Error(`${operationId} is not in the contract`);
  if (validate(JSON.parse(toJson(body)))) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** The fixture with this name. @throws Error when it is missing. */
export function named<Fixture extends { readonly name: string }>(
  fixtures: readonly Fixture[],
  name: string,
): Fixture {
  const found = fixtures.find(fixture => fixture.name === name);
  if (found === undefined) throw new Error(`there is no fixture ${name}`);
  return found;
}
