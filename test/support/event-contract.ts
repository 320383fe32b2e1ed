import { Ajv2020 } from 'ajv/dist/2020.js';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(
  paymentsContract.document,
  'contract',
);

/** What is wrong with the body of a delivery by the contract; empty when nothing is. */
export function faultsOf(type: string, body: unknown): string {
  // A pointer into the document, in which a slash of a media type is written ~1.
  const at = `contract#/webhooks/${type}/post/requestBody/content/application~1json/schema`;
  const validate = ajv.getSchema(at);
  if (validate === undefined) throw new Error(`the contract has no event ${type}`);
  return validate(body) === true ? '' : ajv.errorsText(validate.errors);
}
