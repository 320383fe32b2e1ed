import { postgresDialect, sqliteDialect } from '#db/dialect.ts';
import { LEADER_MIGRATION } from '#db/leader.ts';
import { addColumn, type Migration, type Schema } from '#db/migrate.ts';
import { type DatabaseOptions, remakeable } from '#db/open.ts';
import { typeOf } from '#db/rows.ts';
import { AMSTERDAM_HEADER, PROVEN, PROVEN_COUNTER } from '../table-description.ts';
import { createTables } from '../tables.ts';
import { POSTGRES_FUNCTIONS } from './postgres-functions.ts';
import { POSTGRES_TRIGGERS } from './postgres-triggers.ts';
import { POSTGRES_PROOF_TRIGGERS, SQLITE_PROOF_TRIGGERS } from './proof-triggers.ts';
import { SQLITE_TRIGGERS } from './sqlite-triggers.ts';

const AMSTERDAM: Migration = {
  name: '002-amsterdam-header',
  up: ['blocks', 'stale_blocks'].flatMap(table =>
    Object.entries(AMSTERDAM_HEADER).map(([column, type]) => addColumn(table, column, typeOf(type))),
  ),
};

/** Blocks of before are not recomputed. */
const provenBlocks = (triggers: readonly string[]): Migration => ({
  name: '003-proven-blocks',
  up: [
    ...['blocks', 'stale_blocks'].map(table => addColumn(table, 'proven', [PROVEN.proven, ZERO])),
    addColumn('block_counters', 'proven_blocks', [PROVEN_COUNTER.proven_blocks, ZERO]),
    ...triggers,
  ],
});
const ZERO = 'not null default 0';

/** Adds the terms of later words to names that were read before, as `searchTerms` has them. */
const wordTerms = (find: 'instr' | 'strpos'): Migration => ({
  name: '004-word-terms',
  up: [
    `with recursive words(term, token, depth) as (
       select term, token, 0 from token_terms
       union all
       select substr(term, ${find}(term, ' ') + 1), token, depth + 1 from words
       where ${find}(term, ' ') > 0 and depth < 7
     )
     insert into token_terms (term, token) select term, token from words where depth > 0
     on conflict do nothing`,
  ],
});

/** Schema of the index on SQLite, in steps. Append only. */
export const INDEX_MIGRATIONS: readonly Migration[] = [
  { name: '001-compact-index', up: [...createTables(sqliteDialect), ...SQLITE_TRIGGERS] },
  AMSTERDAM,
  provenBlocks(SQLITE_PROOF_TRIGGERS),
  wordTerms('instr'),
];

/** Schema of the index on PostgreSQL, in steps. Append only. */
const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    name: '001-compact-index',
    up: [
      ...LEADER_MIGRATION.up,
      ...POSTGRES_FUNCTIONS,
      ...createTables(postgresDialect),
      ...POSTGRES_TRIGGERS,
    ],
  },
  AMSTERDAM,
  provenBlocks(POSTGRES_PROOF_TRIGGERS),
  wordTerms('strpos'),
];

/** Options to open the database of a chain's index. On PostgreSQL each chain has its own schema. */
export function indexOptions(database: DatabaseOptions, chainId: number): DatabaseOptions {
  return remakeable(database, schemaName(chainId));
}

function schemaName(chainId: number): string {
  return `chain_${chainId}`;
}

/** Schema of a chain's index. `setting` is the path of the setting that names the database. */
export function indexSchema(chainId: number, { kind = 'sqlite' }: DatabaseOptions, setting?: string): Schema {
  const { migrations, removal } = {
    sqlite: { migrations: INDEX_MIGRATIONS, removal: 'delete the file' },
    postgres: {
      migrations: POSTGRES_MIGRATIONS,
      removal: `run "drop schema ${schemaName(chainId)} cascade"`,
    },
  }[kind];
  const otherwise = `It was written by a development version; ${removal}, and it is built again from the node.`;
  return {
    title: `index of chain ${chainId}`,
    migrations: migrations.map((step, position) => (position === 0 ? { ...step, otherwise } : step)),
    ...(setting === undefined ? {} : { setting }),
  };
}
