import { _, Ajv2020, type Options } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import addFormats from 'ajv-formats';
import {
  child,
  closed,
  type Json,
  type JsonObject,
  operationsOf,
  pointedAtDocument,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { rulesOnly } from './fields.ts';
import { GENERATED } from './header.ts';
import { parameterChecks } from './operations.ts';
import { statementLines } from './statement-lines.ts';

/**
 * Content of `validators.cjs`: one function per set of rules that the parsed values of parameters must satisfy. Rows of
 * `operations.ts` name them.
 */
export function parameterValidators(document: JsonObject): string {
  const schemas = [...parameterChecks(document)].map(([text, name]): [string, Json] => {
    const rules: Json = JSON.parse(text);
    return [name, pointedAtDocument(rules)];
  });
  return standalone(document, Object.fromEntries(schemas), schema => schema, { verbose: true });
}

/**
 * Content of `bodies.cjs`: one function per operation with a body; undefined when there is none. The functions refuse
 * unknown fields and fill in defaults.
 */
export function bodyValidators(document: JsonObject): string | undefined {
  const schemas = Object.fromEntries(
    operationsOf(document).flatMap(({ operation }): [string, Json][] => {
      const content = child(resolve(document, operation.requestBody), 'content');
      const { schema } = child(content, 'application/json');
      if (!isObject(schema)) return [];
      return [[String(operation.operationId), pointedAtDocument(closed(rulesOnly(schema)))]];
    }),
  );
  if (Object.keys(schemas).length === 0) return undefined;
  return standalone(document, schemas, closed, { verbose: true, useDefaults: true });
}

/** Type declaration of either file. */
export const VALIDATOR_TYPES = `${GENERATED}
import type { ValidateFunction } from 'ajv';
declare const validators: Readonly<Record<string, ValidateFunction>>;
export = validators;
`;

const FORMATS = _`require("ajv-formats/dist/formats").fullFormats`;
/**
 * Adds our own formats (spec/README.md, rule 13). They are inlined, because the generated file imports none of our
 * modules.
 */
const BODY_FORMATS = _`(isUrl => Object.assign({
  amount: text => /^\\d{1,78}$/.test(text) && BigInt(text) >> 256n === 0n,
  "https-url": text => text.startsWith("https://") && isUrl(text),
  "http-url": isUrl,
  "image-url": text => isUrl(text) && (text.startsWith("https://") || /\\/pay\\/images\\/img_[0-9A-Za-z]{24}$/.test(text)),
}, ${FORMATS}))(text => {
  if (!/^https?:\\/\\/[^\\s\\\\]+$/.test(text) || !URL.canParse(text)) return false;
  const { username, password, port, hostname } = new URL(text);
  if (username !== "" || password !== "" || port === "0") return false;
  const name = hostname.replace(/\\.$/, "");
  return name.length <= 253 && (name.startsWith("[") || name.split(".").every(label => /^.{1,63}$/.test(label)));
})`;

/**
 * Generates standalone validators. With `verbose`, errors include the surrounding schema, which holds the text for the
 * client.
 */
function standalone(
  document: JsonObject,
  schemas: Record<string, Json>,
  prepare: (schema: Json) => Json,
  options: Pick<Options, 'useDefaults' | 'verbose'> = {},
): string {
  const ajv = new Ajv2020({
    strict: false,
    inlineRefs: false,
    code: { source: true, formats: options.useDefaults === true ? BODY_FORMATS : FORMATS },
    ...options,
  });
  addFormats.default(ajv);
  for (const format of ['uint64', 'uint256']) ajv.addFormat(format, true);
  for (const format of ['amount', 'https-url', 'http-url', 'image-url'])
    ajv.addFormat(format, options.useDefaults === true ? () => true : true);
  ajv.addSchema({ $id: 'document', components: prepare(rulesOnly(child(document, 'components'))) });
  for (const [name, schema] of Object.entries(schemas)) if (isObject(schema)) ajv.addSchema(schema, name);
  const exported = Object.fromEntries(Object.keys(schemas).map(name => [name, name]));
  return `${GENERATED}\n${statementLines(standaloneCode.default(ajv, exported))}`;
}
