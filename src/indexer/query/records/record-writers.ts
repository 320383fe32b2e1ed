import { entityFields, type FieldKind } from '#query-model/fields.ts';
import type { Entity } from '#query-model/row-selection.ts';
import type { Cell } from '../rows.ts';

/** Columns of a call. */
interface CallCells {
  readonly to: string | null;
  readonly input: string;
}

/** Columns of a log. */
interface LogCells {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Decodes the rows of one page. Returns the JSON text of an object whose only member is `decoded`, or undefined. */
export interface RowDecoder {
  call(call: CallCells): string | undefined;
  log(log: LogCells): string | undefined;
}

/** Rows of a page: their entity, field names and decoder. */
export interface WrittenRows {
  readonly entity: Entity;
  readonly fields: readonly string[];
  /** Absent for records without `decoded`. */
  readonly decoder?: RowDecoder | undefined;
}

/** JSON text of a value. */
type Form = (value: bigint | string) => string;

/** Hex and digits, which need no escaping. */
const text: Form = value => `"${value}"`;
/** Text from outside, which needs escaping. */
const freeText: Form = value => JSON.stringify(String(value));
/** Integer with all digits. */
const integer: Form = String;
/** Integer as a JSON number. Beyond 15 digits it may be rounded. */
const number: Form = value => {
  const digits = String(value);
  return digits.length <= 15 ? digits : String(Number(digits));
};
const status: Form = value => (String(value) === '1' ? '1' : '0');

const FORMS: Readonly<Record<FieldKind, Form>> = {
  number,
  uint64: integer,
  status,
  time: number,
  block: number,
  index: number,
  amount: text,
  word: text,
  hex: text,
  bloom: text,
  selector: text,
  list: freeText,
};

/**
 * Returns a function that writes a row as the JSON text of its record. Writing text directly takes half the time of
 * serializing objects.
 */
export function recordWriter(rows: WrittenRows): (row: readonly Cell[]) => string {
  const members = membersWriter(rows);
  if (rows.entity === 'blocks') return row => `{${members(row)}}`;
  const behind = rows.entity === 'transactions' ? behindTransaction(rows) : behindEvent(rows);
  return row => `{${members(row)}${behind(row)}`;
}

/** Writes the members with a single value, separated by commas. */
function membersWriter({ entity, fields }: WrittenRows): (row: readonly Cell[]) => string {
  const single = entityFields(entity).filter(([, field]) => field.in === undefined);
  const members = single.map(([name, { kind, absent }], index) => {
    const head = `${index === 0 ? '' : ','}"${name}":`;
    const without = absent === 'null' ? `${head}null` : '';
    const isNeeded = absent === undefined;
    return { name, head, form: FORMS[kind], without, isNeeded, column: fields.indexOf(name) };
  });
  return row => {
    let json = '';
    for (const { name, head, form, without, isNeeded, column } of members) {
      const value = row[column] ?? null;
      if (value !== null) json += head + form(value);
      else if (isNeeded) throw new TypeError(`A row of the index has no ${name}.`);
      else json += without;
    }
    return json;
  };
}

function behindTransaction({ fields, decoder }: WrittenRows): (row: readonly Cell[]) => string {
  if (decoder === undefined) return () => '}';
  const [to, input] = ['to_address', 'data'].map(name => fields.indexOf(name));
  return row => closed('', decoder.call({ to: cellText(row, to), input: cellText(row, input) ?? '' }));
}

function behindEvent({ fields, decoder }: WrittenRows): (row: readonly Cell[]) => string {
  const listed = entityFields('events').filter(([, field]) => field.in === 'topics');
  const columns = listed.map(([name]) => fields.indexOf(name));
  const [address, data] = ['address', 'data'].map(name => fields.indexOf(name));
  return row => {
    const topics = columns.map(column => cellText(row, column)).filter(topic => topic !== null);
    const json = `,"topics":${JSON.stringify(topics)}`;
    if (decoder === undefined) return `${json}}`;
    const log = { address: cellText(row, address) ?? '', topics, data: cellText(row, data) ?? '' };
    return closed(json, decoder.log(log));
  };
}

/** Ends a record. Appends the members of an object's JSON text, if present. */
function closed(json: string, object: string | undefined): string {
  return object === undefined ? `${json}}` : `${json},${object.slice(1)}`;
}

function cellText(row: readonly Cell[], column = -1): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}
