import type { Db } from '../../../src/db/open.ts';
import { rowsOf } from '../../../src/db/query.ts';
import type { Seals } from '../../../src/payments/secrets/sealed.ts';

/** All values of each table of a payments database as text, with what is sealed in clear. */
export async function readableTables(db: Db, seals: Seals): Promise<Map<string, string>> {
  const listed =
    db.dialect.name === 'sqlite'
      ? "select name from sqlite_schema where type = 'table'"
      : "select table_name as name from information_schema.tables where table_schema = 'public'";
  const names = (await rowsOf<{ name: string }>(db, listed)).map(({ name }) => name);
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => {
        const rows = await rowsOf<Record<string, unknown>>(db, `select * from ${name}`);
        return [name, rows.map(row => clearText(name, row, seals)).join('\n')];
      }),
    ),
  );
}

function clearText(table: string, row: Record<string, unknown>, seals: Seals): string {
  const id = String(row.id ?? JSON.stringify([row.organization_id, row.mode, row.key]));
  const values = Object.entries(row).map(([column, value]) => {
    const isSealed = typeof value === 'string' && value.startsWith('v1.');
    return isSealed ? seals.open(value, { table, column, id }) : String(value);
  });
  return values.join('\t');
}
