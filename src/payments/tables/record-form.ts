import { booleanOf, jsonColumn, jsonOf, type StoredBoolean, uintColumn, uintOf } from '#db/columns.ts';

/** Form of a field in its column: as it is, or that of `uintColumn`, `booleanOf` or `jsonColumn`. */
type Form = 'plain' | 'uint256' | 'boolean' | 'json';

/** The form of each field of a record. It follows from the type of the field. */
type FormsOf<Fields> = { readonly [Name in keyof Fields]-?: FormOf<Fields[Name]> };

type FormOf<Value> = [Value] extends [bigint | null]
  ? 'uint256'
  : [Value] extends [boolean | null]
    ? 'boolean'
    : [Value] extends [string | number | null]
      ? 'plain'
      : 'json';

/** Row of a record: a column per field, with the name of the field in snake_case. */
export type RowOfRecord<Fields> = {
  -readonly [Name in keyof Fields & string as SnakeCase<Name>]: Stored<Fields[Name]>;
};

type Stored<Value> = Value extends string | number | null
  ? Value
  : Value extends boolean
    ? StoredBoolean
    : string;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/**
 * Converts records to rows and back. Fields and columns that `forms` does not name are left out. The fields are those
 * of the type, because the compiler demands every one.
 */
export function recordForm<Fields extends object>(forms: FormsOf<Fields>) {
  const fields = Object.entries<Form>(forms).map(([name, form]) => {
    return { name, form, column: name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) };
  });
  return {
    recordOf(row: RowOfRecord<Fields>): Fields {
      const entries: unknown[][] = fields.map(({ name, form, column }) => [
        name,
        fieldOf(Reflect.get(row, column), form),
      ]);
      return Object.fromEntries(entries);
    },
    rowOf(record: Fields): RowOfRecord<Fields> {
      const entries: unknown[][] = fields.map(({ name, form, column }) => [
        column,
        columnOf(Reflect.get(record, name), form),
      ]);
      return Object.fromEntries(entries);
    },
  };
}

function fieldOf(column: unknown, form: Form): unknown {
  if (form === 'plain' || column === null) return column;
  if (form === 'boolean') return booleanOf(column);
  return form === 'uint256' ? uintOf(String(column)) : jsonOf(String(column));
}

function columnOf(field: unknown, form: Form): unknown {
  if (field === null) return null;
  if (form === 'uint256' && typeof field === 'bigint') return uintColumn(field);
  return form === 'json' ? jsonColumn(field) : field;
}
