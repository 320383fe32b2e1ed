import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { isSingleLine } from '../../lib/single-line.ts';
import { missing, type ReportFault, wrong } from '../model/fault.ts';

type Field = PaymentsSchemas['FormField'];
type Value = string | number | boolean;

const LONGEST_EMAIL = 254;
/** E-mail addresses that browsers accept in a form. Source: HTML Standard, "valid e-mail address". */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
/** Phone numbers as people write them, from emergency numbers to international ones with an extension. */
const PHONE = /^\+?(?=(?:\D*\d){3})[\d ()./#x-]{3,40}$/;
const CONTROL_BUT_LINES = /[^\P{Cc}\n\r\t]/u;

/**
 * The payer's form values by field id; null without a form. Unknown fields are dropped (Decision 110), and so are blank
 * texts, which stand for fields not filled in. Reports a missing or invalid value as a fault.
 */
export function formDataOf(
  schema: PaymentsSchemas['FormSchema'] | null,
  given: PaymentsSchemas['FormValuesInput'] | undefined,
  report: ReportFault,
): PaymentsSchemas['FormValues'] | null {
  if (schema === null) return null;
  const entries = schema.fields.flatMap((field): [string, Value][] => {
    const value = filledIn(field, given ?? {});
    if (value === undefined || (field.required && value === false)) {
      if (field.required) report(missing(`form_data.${field.id}`));
    } else {
      const rule = brokenRule(field, value);
      if (rule !== undefined) report(wrong(`form_data.${field.id}`, rule));
    }
    return value === undefined ? [] : [[field.id, value]];
  });
  return Object.fromEntries(entries);
}

/** Reads own properties only: a field id may equal the name of an inherited property. */
function filledIn({ id }: Field, given: Readonly<Record<string, Value>>): Value | undefined {
  const value = Object.hasOwn(given, id) ? given[id] : undefined;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

function brokenRule({ type, options }: Field, value: Value): string | undefined {
  if (type === 'checkbox') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (type === 'number') return Number.isFinite(value) ? undefined : 'must be a number';
  if (typeof value !== 'string') return 'must be text';
  if (type === 'select')
    return options.includes(value) ? undefined : 'must be one of the options of the form';
  if (type === 'textarea')
    return CONTROL_BUT_LINES.test(value) ? 'must not contain control characters' : undefined;
  if (!isSingleLine(value)) return 'must be a single line of visible text';
  if (type === 'email')
    return value.length <= LONGEST_EMAIL && EMAIL.test(value) ? undefined : 'must be an e-mail address';
  if (type === 'phone') return PHONE.test(value) ? undefined : 'must be a phone number';
  return undefined;
}
