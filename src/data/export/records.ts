import { formatUnits } from 'viem';
import { type CsvCell, csvLine } from '#lib/csv.ts';
import { fromJson } from '#lib/json.ts';
import { plainLine } from '#lib/single-line.ts';
import type { NativeCoin } from '../fallback/chain.ts';

/** Facts that the records of a list do not hold themselves. */
export interface ExportContext {
  readonly coin: NativeCoin;
  /** Decimals of the token that the list belongs to; null where they are unknown. */
  readonly tokenDecimals: string | null;
}

/** One column, or two for an amount. */
export interface Column<Item> {
  readonly names: readonly string[];
  readonly cells: (item: Item, context: ExportContext) => readonly CsvCell[];
}

/** Records of one kind, read from pages of a list. */
export interface ExportedRecords {
  readonly header: string;
  readonly hasTimes: boolean;
  page(text: string, context: ExportContext): ExportedPage;
  /** A row with a text in its first cell. */
  note(text: string): string;
}

export interface ExportedPage {
  readonly rows: readonly { readonly timeMs: number | undefined; readonly line: string }[];
  /** Cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

interface ListBody<Item> {
  readonly items: readonly Item[];
  readonly next_page_params: { readonly cursor: string } | null;
}

/** Reads pages of records with these columns. Records have times when `timeOf` is given. */
export function exportedRecords<Item>(
  columns: readonly Column<Item>[],
  timeOf?: (item: Item) => string | null | undefined,
): ExportedRecords {
  const names = columns.flatMap(column => column.names);
  return {
    header: csvLine(names),
    hasTimes: timeOf !== undefined,
    page(text, context) {
      const { items, next_page_params: next } = fromJson<ListBody<Item>>(text);
      return {
        rows: items.map(item => {
          const time = timeOf?.(item) ?? undefined;
          return {
            timeMs: time === undefined ? undefined : Date.parse(time),
            line: csvLine(columns.flatMap(({ cells }) => cells(item, context))),
          };
        }),
        next: next?.cursor,
      };
    },
    note: text => csvLine([text, ...names.slice(1).map(() => null)]),
  };
}

/** A value that is no text of a stranger: a number, a hash, a word of the contract. */
export function plain<Item>(name: string, of: (item: Item) => CsvCell | undefined): Column<Item> {
  return { names: [name], cells: item => [of(item) ?? null] };
}

/** A text that a stranger may have written, in one line and whole. */
export function text<Item>(name: string, of: (item: Item) => string | null | undefined): Column<Item> {
  return { names: [name], cells: item => [plainLine(of(item) ?? '', Number.POSITIVE_INFINITY)] };
}

/** An amount of the native coin: in whole coins, and in the smallest unit. */
export function coins<Item>(name: string, of: (item: Item) => string | null | undefined): Column<Item> {
  return amountColumns(name, of, (_, { coin }) => coin.decimals);
}

/** An amount in whole units, empty while the decimals are unknown, and in the smallest (Decision 424). */
export function amountColumns<Item>(
  name: string,
  of: (item: Item) => string | null | undefined,
  decimalsOf: (item: Item, context: ExportContext) => string | number | null | undefined,
): Column<Item> {
  return {
    names: [name, `${name}_raw`],
    cells(item, context) {
      const units = of(item) ?? undefined;
      if (units === undefined) return [null, null];
      return [wholeUnits(units, decimalsOf(item, context)), { decimal: units }];
    },
  };
}

/** Most decimals that are believed. Source: Decision 424. */
const MAX_DECIMALS = 36;

function wholeUnits(units: string, written: string | number | null | undefined): CsvCell {
  const decimals = Number(written ?? Number.NaN);
  const isKnown = Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS;
  return isKnown ? { decimal: formatUnits(BigInt(units), decimals) } : null;
}
