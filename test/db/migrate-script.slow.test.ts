import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { CACHE_MIGRATIONS } from '#data/cache/001-entries.ts';
import { type Migration, migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { INDEX_MIGRATIONS } from '#indexer/schema/migrations/index-migrations.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { bothDatabases, postgresDatabase, urlOf } from '../support/databases.ts';
import { script } from '../support/script.ts';

const NEXT: Migration = { name: 'a step to come', up: [] };
const LAST: Migration = { name: 'the last step', up: [], servesFrom: '9.4.0' };

let folder: string;
let config: string;
const run = script('migrate.ts', { cwd: () => folder });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrate-'));
  config = join(folder, 'tollgate.yaml');
  onTestFinished(() => rm(folder, { recursive: true }));
});

const configured = (payments: string, index = 'sqlite:./index.db') =>
  writeFile(
    config,
    `data: { cache: { store: 'sqlite:./cache.db' } }
payments: { database: '${payments}' }
chains:
  - id: 8453
    name: Base
    native: { symbol: ETH, decimals: 18 }
    rpc: [http://127.0.0.1:9]
    backends: [{ kind: index, database: '${index}' }]
`,
  );

/** Output about one database. */
const listed = (title: string, steps: readonly (readonly [state: string, steps: readonly Migration[]])[]) =>
  [
    title,
    ...steps
      .flatMap(([state, migrations]) => migrations.map(({ name }) => [state, name]))
      .map(([state, name], index) => `  ${String(index + 1).padStart(3, '0')}  ${state}  ${name}`),
    '',
  ].join('\n');

bothDatabases('the command line', databases => {
  test('shows what is pending without a change, applies it, and shows that it is applied', async () => {
    const database = await databases.create();
    await configured(urlOf(database));
    const all = (state: string) =>
      [
        listed(`payments database, ${database.kind === 'postgres' ? 'PostgreSQL' : database.file}`, [
          [state, PAYMENTS_MIGRATIONS],
        ]),
        listed(`cache, ${join(folder, 'cache.db')}`, [[state, CACHE_MIGRATIONS]]),
        listed(`index of chain 8453, ${join(folder, 'index.db')}`, [[state, INDEX_MIGRATIONS]]),
      ].join('');

    const before = await run('--config', config, '--status');
    const files = await readdir(folder);
    const applied = await run('--config', config);
    const after = await run('--config', config, '--status');

    expect(before).toEqual({ code: 0, out: all('pending'), err: '' });
    expect(files).toEqual(['tollgate.yaml']);
    expect(applied).toEqual({ code: 0, out: all('applied now'), err: '' });
    expect(after).toEqual({ code: 0, out: all('applied'), err: '' });
  });
});

test('the index of a chain has its own schema in the database of the platform', async () => {
  const { options, remove } = await postgresDatabase();
  onTestFinished(remove);
  await configured(options.url, options.url);

  const applied = await run('--config', config);
  const status = await run('--config', config, '--status');

  expect([applied.code, applied.err]).toEqual([0, '']);
  expect(status.out).toContain(listed('index of chain 8453, PostgreSQL', [['applied', INDEX_MIGRATIONS]]));
  expect(status.out).not.toContain('pending');
});

test.each([
  ['payments database', 'payments.db', PAYMENTS_MIGRATIONS, 'line 2, payments.database'],
  ['cache', 'cache.db', CACHE_MIGRATIONS, 'line 1, data.cache.store'],
  ['index of chain 8453', 'index.db', INDEX_MIGRATIONS, 'line 8, chains[0].backends[0].database'],
] as const)(
  'a newer %s keeps running while it serves this version, and is refused afterwards',
  async (title, name, known, place) => {
    await configured('sqlite:./payments.db');
    const file = join(folder, name);
    const db = openDatabase({ file });
    await migrate(db, [...known, NEXT]);

    const served = await run('--config', config);
    await migrate(db, [...known, NEXT, LAST]).finally(() => db.destroy());
    const status = await run('--config', config, '--status');
    const refused = await run('--config', config);

    const sentence = 'Its schema serves tollgate 9.4.0 and newer, since the step "the last step".';
    const err = `${config}, ${place}: The ${title} ${file} cannot be used: ${sentence}\n`;
    expect([served.code, served.err]).toEqual([0, '']);
    expect(status).toMatchObject({ code: 2, err });
    expect(status.out).toContain(listed(`${title}, ${file}`, [['applied', [...known, NEXT, LAST]]]));
    expect(refused).toMatchObject({ code: 2, err });
  },
);

test('the command line exits with 2 for invalid arguments and for an unavailable database', async () => {
  await configured('postgres://127.0.0.1:9/payments');

  const unknown = await run('--down');
  const unconfigured = await run('--status');
  const missing = await run('--config', join(folder, 'absent.yaml'));
  const unreachable = await run('--config', config, '--status');
  const help = await run('--help');

  expect([unknown.code, unconfigured.code, missing.code, unreachable.code, help.code]).toEqual([
    2, 2, 2, 2, 0,
  ]);
  expect(unknown.err).toContain("Unknown option '--down'");
  expect(unconfigured.err).toMatch(/^--config is missing/);
  expect(missing.err).toContain('absent.yaml');
  expect(unreachable.err).toBe(
    `${config}, line 2, payments.database: The payments database cannot be used: connect ECONNREFUSED 127.0.0.1:9\n`,
  );
  expect(help.out).toContain('--status');
});
