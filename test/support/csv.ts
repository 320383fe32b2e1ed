/** Records of a CSV file by the names of its header, and the text of a last row that says that more follow. */
export interface CsvFile {
  readonly header: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly note: string | undefined;
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;

/** Reads a CSV file (RFC 4180) strictly. @throws Error for a text that is none, or with rows of different length */
export function readCsv(file: unknown): CsvFile {
  if (typeof file !== 'string') throw new Error(`not a file: ${JSON.stringify(file)}`);
  const lines: string[][] = [];
  let line: string[] = [];
  CELL.lastIndex = 0;
  while (CELL.lastIndex < file.length) {
    const at = CELL.lastIndex;
    const [, quoted, bare = '', end] = CELL.exec(file) ?? [];
    if (end === undefined) throw new Error(`no cell at ${at}: ${file.slice(at, at + 50)}`);
    line.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  const [header = [], ...rest] = lines;
  const uneven = rest.find(({ length }) => length !== header.length);
  if (uneven !== undefined) throw new Error(`a row of ${uneven.length} cells: ${uneven.join()}`);
  const last = rest.at(-1)?.[0];
  const note = last?.startsWith('More records follow') === true ? last : undefined;
  const rows = note === undefined ? rest : rest.slice(0, -1);
  return {
    header,
    rows: rows.map(cells => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))),
    note,
  };
}
