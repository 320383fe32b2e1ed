import { child, type JsonObject } from '../contracts/document.ts';
import { errorCodesOf } from '../contracts/error-codes.ts';
import { mapOperations } from './examples.ts';

/** Adds the possible error codes to the description of each operation (Decision 211). */
export function withErrorCodes(document: JsonObject): JsonObject {
  const paths = mapOperations(child(document, 'paths'), (operation, path, method) => {
    const codes = errorCodesOf(document, { path, method, operation });
    const parts = [...codes].map(
      ([status, some]) => `${status} ${some.map(code => `\`${code}\``).join(', ')}`,
    );
    if (parts.length === 0) return operation;
    return { ...operation, description: `${operation.description}\n\nErrors: ${parts.join('; ')}.` };
  });
  return { ...document, paths };
}
