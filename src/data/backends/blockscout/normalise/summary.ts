import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { at, each, fieldsOf, required } from '../../upstream-json/fields.ts';
import { addressHashOrNull, booleanOrNull, textOrNull } from '../../upstream-json/values.ts';
import { address } from './address.ts';
import { token } from './token.ts';

type Summary = ExplorerSchemas['Summary'];
type SummaryVariable = ExplorerSchemas['SummaryVariable'];

/**
 * Converts a transaction's summary in words. Upstream answers `null` for one that failed or is pending (Decision 31).
 * @throws UnreadableRecord for a sentence without a template.
 */
export function summary(value: unknown): ExplorerSchemas['TransactionSummary'] {
  if (value === null) return { success: false, data: { summaries: [] } };
  const record = fieldsOf(value);
  const data = isObject(record.data) ? record.data : {};
  const summaries = at('data.summaries', data.summaries, list => each(list, sentence));
  return { success: booleanOrNull(record.success) ?? summaries.length > 0, data: { summaries } };
}

function sentence(value: unknown): Summary {
  const record = fieldsOf(value);
  return {
    summary_template: required(textOrNull(record.summary_template), 'summary_template'),
    summary_template_variables: variables(record.summary_template_variables),
  };
}

/**
 * Reads the variables of a template. Unreadable ones are left out; templates also name units such as `{native}` that
 * have none.
 */
function variables(value: unknown): Summary['summary_template_variables'] {
  const read: Summary['summary_template_variables'] = {};
  if (!isObject(value)) return read;
  for (const [name, variable] of Object.entries(value)) {
    if (!isObject(variable)) continue;
    const type = textOrNull(variable.type);
    if (type !== null) read[name] = { type, value: variableValue(type, variable.value) };
  }
  return read;
}

/** Converts complete tokens and addresses to our records. Other values stay as the summary service wrote them. */
function variableValue(type: string, value: unknown): SummaryVariable['value'] {
  if (!isObject(value)) return value ?? null;
  if (type === 'token' && isHash(value.address_hash ?? value.address)) return token(value);
  if (type === 'address' && isHash(value.hash) && typeof value.is_contract === 'boolean')
    return address(value);
  return value;
}

function isHash(value: unknown): boolean {
  return addressHashOrNull(value) !== null;
}
