import type { Representation } from '../../http/representation.ts';
import type { Contract } from '../contracts/contract.ts';
import type { OperationRow } from '../contracts/operations.ts';
import { describeErrors } from '../contracts/violations.ts';
import { responseValidators } from './response-validators.ts';

/** Refuses an answer that the contract does not allow. A representation that passed once is not judged again. */
export function responseJudge({ name, document }: Pick<Contract<unknown>, 'name' | 'document'>) {
  const validators = responseValidators(document);
  const passed = new WeakSet<Representation>();
  return async (row: OperationRow, status: number, representation: Representation): Promise<void> => {
    if (passed.has(representation)) return;
    const validate = validators(row.id, status);
    if (validate === undefined) throw new Error(`${name}: ${row.id} does not declare status ${status}`);
    const text = representation.identity.toString();
    if (!validate(row.media?.[status] === undefined ? JSON.parse(text) : text)) {
      throw new Error(
        `${name}: the ${status} answer of ${row.id} breaks the contract: ${describeErrors(validate.errors)}`,
      );
    }
    passed.add(representation);
  };
}
