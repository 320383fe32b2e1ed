import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { clockWarnings, databaseClock } from '#db/database-clock.ts';
import { readSchema } from '#db/migrate.ts';
import { type DatabaseOptions, databaseName, fileOf, openDatabase } from '#db/open.ts';
import { POOL_SIZE } from '#db/open-postgres.ts';
import { hostNames } from '#db/postgres/address.ts';
import { listensThroughPooler } from '#db/postgres/connection.ts';
import { connectionLimit, isReadOnly } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { type DiskReserve, diskShortage } from '#stores/disk-space.ts';
import { type ConfigCheck, Fault, type Finding } from './check.ts';
import type { ConfiguredDatabase } from './configured-databases.ts';

/**
 * Reads which schema steps a database has, its clock, and the space that is left for it. Creates and migrates nothing.
 */
export function databaseCheck(
  { options, schema, reserve, inspect }: ConfiguredDatabase,
  clock: Clock,
): ConfigCheck {
  return {
    setting: schema.setting ?? '',
    subject: `${schema.title} (${nameOf(options)})`,
    advice:
      'file' in options
        ? 'Name another file, or restore this one from a backup.'
        : 'Start the database, or correct its address and the rights of its role.',
    run: async () => {
      const { isComplete, ...finding } = await readState();
      return withProblems(finding, [
        ...(isComplete ? await problemsOfContents() : []),
        ...(await problemsOfSpace(fileOf(options), reserve)),
        ...(await problemsOfServer(options, clock)),
      ]);
    },
  };

  async function readState(): Promise<Finding & { isComplete: boolean }> {
    const isNew = 'file' in options && !(await hasWritableFile(options.file));
    if (isNew)
      return { state: 'ok', detail: 'does not exist yet; the first start creates it', isComplete: false };
    const { applied, pending, refusal } = await readSchema(options, schema);
    if (refusal !== undefined) throw new Fault(refusal, 'Run a newer version of tollgate on it.');
    return { ...stateOf(applied.length, pending.length), isComplete: pending.length === 0 };
  }

  async function problemsOfContents(): Promise<Problem[]> {
    if (inspect === undefined) return [];
    const db = openDatabase('file' in options ? { ...options, readonly: true } : options);
    try {
      return [(await inspect(db)) ?? []].flat();
    } finally {
      await db.destroy();
    }
  }
}

/** Something besides the schema that is wrong with a database. */
type Problem = Required<Finding>;

/** A finding with all problems. The worst one gives its state. */
function withProblems(finding: Finding, problems: readonly Problem[]): Finding {
  if (problems.length === 0) return finding;
  return {
    state: problems.some(({ state }) => state === 'fault') ? 'fault' : 'warning',
    detail: [finding.detail, ...problems.map(({ detail }) => detail)].join('; '),
    advice: problems.map(({ advice }) => advice).join(' '),
  };
}

/** The file would not be written now (Decision 271). */
async function problemsOfSpace(
  file: string | undefined,
  reserve: DiskReserve | undefined,
): Promise<Problem[]> {
  if (file === undefined || reserve === undefined) return [];
  const shortage = diskShortage(await nearestPath(file), reserve);
  if (shortage === undefined) return [];
  const detail = `it is not written, because ${shortage}`;
  return [{ state: 'warning', detail, advice: 'Free some space, or lower diskReserve.' }];
}

/**
 * The pool asks for more connections than the server has, the clock of this machine differs from that of the server
 * (Decision 312), or notifications of the server do not arrive (Decision 329).
 * @throws Fault for a read replica
 */
async function problemsOfServer(options: DatabaseOptions, clock: Clock): Promise<Problem[]> {
  if (!('url' in options)) return [];
  const problems: Problem[] = [];
  const db = openDatabase(options);
  try {
    if (await isReadOnly(db)) throw new Fault('is a read replica', 'Name the address of the primary.');
    const { poolSize = POOL_SIZE } = options;
    const limit = await connectionLimit(db);
    if (poolSize >= limit) {
      const detail = `its pool of ${poolSize} exceeds the ${limit} connections of the server`;
      problems.push({ state: 'warning', detail, advice: 'Lower postgres.pool.' });
    }
    const name = 'this database';
    const ofDatabase = await databaseClock(db, clock, { name, log: silentLogger() });
    for (const detail of clockWarnings(name, ofDatabase)) {
      const advice = 'Synchronize the clocks of both machines with NTP.';
      problems.push({ state: 'warning', detail, advice });
    }
  } finally {
    await db.destroy();
  }
  if (await listensThroughPooler(options)) {
    const advice = 'Set listenUrl to an address that leads past the pooler.';
    problems.push(
      options.listenUrl === undefined
        ? { state: 'warning', detail: 'a pooler stands in front, so that processes poll for work', advice }
        : {
            state: 'fault',
            detail: 'listenUrl leads through a pooler, which delivers no notifications',
            advice,
          },
    );
  }
  return problems;
}

/** Name of the database: its file, or its name and the hosts of its servers. */
function nameOf(options: DatabaseOptions): string {
  return 'url' in options ? `${databaseName(options)} at ${hostNames(options.url)}` : databaseName(options);
}

function stateOf(applied: number, pending: number): Finding {
  if (pending === 0) return { state: 'ok', detail: `has all ${applied} steps of its schema` };
  const detail = applied === 0 ? 'is empty' : `lacks ${pending} steps of its schema`;
  return { state: 'ok', detail: `${detail}; the next start completes it, as tollgate migrate does` };
}

/** True for a writable file; false when only a folder to create it in exists. @throws Fault when neither is writable */
async function hasWritableFile(file: string): Promise<boolean> {
  if (file === ':memory:') return false;
  const isThere = await exists(file);
  const path = isThere ? file : await nearestPath(dirname(file));
  await requireWritable(path);
  return isThere;
}

/** @throws Fault for a file or folder that this user cannot write */
export async function requireWritable(path: string): Promise<void> {
  const isWritable = await access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) throw new Fault(`${path} cannot be written`, 'Give this user the right to write there.');
}

/** The path itself, or the nearest folder above it that exists. */
export async function nearestPath(path: string): Promise<string> {
  return (await exists(path)) || path === dirname(path) ? path : nearestPath(dirname(path));
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
