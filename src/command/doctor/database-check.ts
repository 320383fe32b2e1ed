import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { clockWarnings, databaseClock } from '#db/database-clock.ts';
import { readSchema } from '#db/migrate.ts';
import { type DatabaseOptions, databaseName, fileOf, openDatabase } from '#db/open.ts';
import { POOL_SIZE } from '#db/open-postgres.ts';
import { listensThroughPooler } from '#db/postgres/connection.ts';
import { connectionLimit, isReadOnly } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { type DiskReserve, diskShortage } from '#stores/disk-space.ts';
import { type Check, Fault, type Finding } from './check.ts';
import type { ConfiguredDatabase } from './configured-databases.ts';

/**
 * Reads which schema steps a database has, its clock, and the space that is left for it. Creates and migrates nothing.
 */
export function databaseCheck({ options, schema, reserve }: ConfiguredDatabase, clock: Clock): Check {
  return {
    setting: schema.setting ?? '',
    subject: `${schema.title} (${placeOf(options)})`,
    advice:
      'file' in options
        ? 'Name another file, or restore this one from a backup.'
        : 'Start the database, or correct its address and the rights of its role.',
    run: async () => {
      const state = await withSpace(await readState(), fileOf(options), reserve);
      return withListening(await withServer(state, { options, clock }), options);
    },
  };

  async function readState(): Promise<Finding> {
    const isNew = 'file' in options && !(await hasWritableFile(options.file));
    if (isNew) return { state: 'ok', detail: 'does not exist yet; the first start creates it' };
    const { applied, pending, refusal } = await readSchema(options, schema);
    if (refusal !== undefined) throw new Fault(refusal, 'Run a newer version of tollgate on it.');
    return stateOf(applied.length, pending.length);
  }
}

/** Adds to a finding that the file would not be written now (Decision 271). */
async function withSpace(
  finding: Finding,
  file: string | undefined,
  reserve: DiskReserve | undefined,
): Promise<Finding> {
  if (file === undefined || reserve === undefined) return finding;
  const shortage = diskShortage(await nearestPlace(file), reserve);
  if (shortage === undefined) return finding;
  return {
    state: 'warning',
    detail: `${finding.detail}; it is not written, because ${shortage}`,
    advice: 'Free some space, or lower diskReserve.',
  };
}

/**
 * Adds to a finding that the clock of this machine differs from that of the server (Decision 312), or that the pool asks
 * for more connections than the server has.
 * @throws Fault for a read replica
 */
async function withServer(
  finding: Finding,
  { options, clock }: { options: DatabaseOptions; clock: Clock },
): Promise<Finding> {
  if (!('url' in options)) return finding;
  const db = openDatabase(options);
  try {
    if (await isReadOnly(db)) throw new Fault('is a read replica', 'Name the address of the primary.');
    const { poolSize = POOL_SIZE } = options;
    const limit = await connectionLimit(db);
    if (poolSize >= limit) {
      const detail = `its pool of ${poolSize} exceeds the ${limit} connections of the server`;
      return { state: 'warning', detail: `${finding.detail}; ${detail}`, advice: 'Lower postgres.pool.' };
    }
    const [text] = clockWarnings('this database', await databaseClock(db, clock));
    if (text === undefined) return finding;
    const advice = 'Synchronize the clocks of both machines with NTP.';
    return { state: 'warning', detail: `${finding.detail}; ${text}`, advice };
  } finally {
    await db.destroy();
  }
}

/** Adds to a finding that notifications of the server do not arrive (Decision 329). */
async function withListening(finding: Finding, options: DatabaseOptions): Promise<Finding> {
  if (!('url' in options) || !(await listensThroughPooler(options))) return finding;
  const advice = 'Set listenUrl to an address that leads past the pooler.';
  if (options.listenUrl !== undefined)
    throw new Fault('listenUrl leads through a pooler, which delivers no notifications', advice);
  const detail = `${finding.detail}; a pooler stands in front, so that processes poll for work`;
  return { state: 'warning', detail, advice };
}

/** Name of the database: its file, or its name and the host of its server. */
function placeOf(options: DatabaseOptions): string {
  if (!('url' in options) || !URL.canParse(options.url)) return databaseName(options);
  return `${databaseName(options)} at ${new URL(options.url).host}`;
}

function stateOf(applied: number, pending: number): Finding {
  if (pending === 0) return { state: 'ok', detail: `has all ${applied} steps of its schema` };
  const detail = applied === 0 ? 'is empty' : `lacks ${pending} steps of its schema`;
  return { state: 'ok', detail: `${detail}; the next start applies them, as tollgate migrate does` };
}

/** True for a writable file; false when only a folder to create it in exists. @throws Fault when neither is writable */
async function hasWritableFile(file: string): Promise<boolean> {
  if (file === ':memory:') return false;
  const isThere = await exists(file);
  const place = isThere ? file : await nearestPlace(dirname(file));
  const isWritable = await access(place, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) throw new Fault(`${place} cannot be written`, 'Give this user the right to write there.');
  return isThere;
}

/** The path itself, or the nearest folder above it that exists. */
async function nearestPlace(path: string): Promise<string> {
  return (await exists(path)) || path === dirname(path) ? path : nearestPlace(dirname(path));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
