import { Ajv2020 } from 'ajv/dist/2020.js';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(
  paymentsContract.document,
  'contract',
);

/** Violations of the contract by the body of a delivery; empty when it is valid. */
export function faultsOf(type: string, body: unknown): string {
  // A JSON pointer into the document, where a slash in a media type is written ~1.
  const at = `contract#/webhooks/${type}/post/requestBody/content/application~1json/schema`;
  const validate = ajv.getSchema(at);
  if (validate === undefined) throw new Error(`the contract has no event ${type}`);
  return validate(body) === true ? '' : ajv.errorsText(validate.errors);
}
