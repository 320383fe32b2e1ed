import type { ColumnType, RowOf } from '../columns.ts';

type Hex = `0x${string}`;

/** Name of a table with its alias, if any: `blocks` or `blocks b`. */
export type TableText<Tables> = NameIn<Tables> | `${NameIn<Tables>} ${string}`;
/** Table that is joined, as in `blocks b on b.number = l.id >> 20`. */
export type JoinText<Tables> = `${NameIn<Tables>} ${string} on ${string}`;
/** Type of a computed column: that of a column, or `hex` for bytes that the database writes as `0x…`. */
export type ComputedType = ColumnType | 'hex';
/** Computed columns by their names: the type of the result, which the database does not check, and an expression. */
export type ComputedColumns = Readonly<
  Record<string, readonly [type: ComputedType | `${ComputedType}?`, sql: string]>
>;

/** Tables in whose rows a selection reads its columns. */
interface Sources {
  tables: object;
  from: string;
  join: string;
  leftJoin: string;
}

/**
 * Column of a selection, as SQL writes it: `timestamp`, `b.timestamp`, `b.hash as block_hash`, `*` or `b.*`. With joins
 * each column needs the alias of its table.
 */
export type SelectedItem<From extends Sources> =
  | { [Alias in NameIn<Rows<From>>]: ItemOf<Rows<From>[Alias], `${Alias}.`> }[NameIn<Rows<From>>]
  | ([From['from']] extends [never]
      ? never
      : [From['join'] | From['leftJoin']] extends [never]
        ? ItemOf<FirstRow<From>, ''>
        : never);

type ItemOf<Row, Prefix extends string> =
  | `${Prefix}*`
  | `${Prefix}${NameIn<Row>}`
  | `${Prefix}${NameIn<Row>} as ${string}`;

/** Row of a selection. */
export type SelectedRow<
  From extends Sources,
  Columns extends string,
  InHex extends string,
  Computed extends ComputedColumns,
> = Flat<Read<From, Columns> & WithHex<Read<From, InHex>> & ComputedRow<Computed>>;

/** Does not accept a selection with two columns of one name, of which a row would hold only one. */
export type Unambiguous<From extends Sources, Items extends string, Computed> = [
  Repeated<From, Items> | (ResultNames<From, Items> & keyof Computed),
] extends [never]
  ? unknown
  : { readonly columnsOfOneName: Repeated<From, Items> | (ResultNames<From, Items> & keyof Computed) };

/**
 * A row whose bytes columns are lower-case `0x…` text. The database writes hex faster than a Buffer can be created and
 * converted.
 */
type WithHex<Row> = {
  [Name in keyof Row]: Row[Name] extends Buffer
    ? Hex
    : Row[Name] extends Buffer | null
      ? Hex | null
      : Row[Name];
};

type Repeated<From extends Sources, Items extends string> = {
  [One in Items]: ResultNames<From, One> & ResultNames<From, Exclude<Items, One>>;
}[Items];

type Read<From extends Sources, Items extends string> = {
  [One in Exclude<Items, Star> as NameOf<One>]: ValueOf<From, ColumnIn<One>>;
} & Both<StarRow<From, Items>>;

type Star = '*' | `${string}.*`;
type ColumnIn<One> = One extends `${infer Column} as ${string}` ? Column : One;
type NameOf<One extends string> = One extends `${string} as ${infer Name}`
  ? Name
  : One extends `${string}.${infer Name}`
    ? Name
    : One;
/** Names in a row of one or several items. */
type ResultNames<From extends Sources, Items extends string> = Items extends Star
  ? keyof StarRow<From, Items>
  : NameOf<Items>;

type ValueOf<From extends Sources, Column> = Column extends `${infer Alias}.${infer Name}`
  ? Member<Member<Rows<From>, Alias>, Name>
  : Member<FirstRow<From>, Column>;
type StarRow<From extends Sources, Items> = Items extends `${infer Alias}.*`
  ? Member<Rows<From>, Alias>
  : Items extends '*'
    ? FirstRow<From>
    : never;

/** Rows of the tables by their aliases. */
type Rows<From extends Sources> = {
  [Text in From['from'] | From['join'] as AliasIn<Text>]: Member<From['tables'], TableIn<Text>>;
} & {
  [Text in From['leftJoin'] as AliasIn<Text>]: OrNull<Member<From['tables'], TableIn<Text>>>;
};
type FirstRow<From extends Sources> = Member<From['tables'], TableIn<From['from']>>;

type TableIn<Text extends string> = Text extends `${infer Table} ${string}` ? Table : Text;
type AliasIn<Text extends string> = Text extends `${string} ${infer Alias} on ${string}`
  ? Alias
  : Text extends `${string} ${infer Alias}`
    ? Alias
    : Text;

type ComputedRow<Computed extends ComputedColumns> = {
  [Name in keyof Computed]: ComputedValue<Computed[Name][0]>;
};
type ComputedValue<Type> = Type extends 'hex'
  ? Hex
  : Type extends 'hex?'
    ? Hex | null
    : Type extends ColumnType | `${ColumnType}?`
      ? RowOf<{ value: Type }>['value']
      : never;

type NameIn<Names> = Extract<keyof Names, string>;
type Member<Members, Name> = Name extends keyof Members ? Members[Name] : never;
type OrNull<Row> = { [Name in keyof Row]: Row[Name] | null };
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer All) => void
  ? All
  : never;
type Flat<Row> = { -readonly [Name in keyof Row]: Row[Name] };
