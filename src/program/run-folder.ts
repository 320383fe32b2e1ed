import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { isPlainObject } from '#lib/json.ts';
import type { Logger } from '#lib/logger.ts';

const PREFIX = 'tollgate-';
/** File that names the process of a folder. Other folders with the prefix have none. */
const OWNER_FILE = 'run.json';

/** Process that uses a folder. A process id has a meaning only on its machine and in its namespace. */
interface RunOwner {
  readonly host: string;
  /** Linux' namespace of process ids, which differs between containers; null elsewhere. */
  readonly namespace: string | null;
  readonly pid: number;
}

/** New temporary folder of this run. First removes those of earlier runs that were killed. */
export async function openRunFolder(log: Logger): Promise<{ folder: string; remove: () => Promise<void> }> {
  const place = await ownPlace();
  for (const leftover of await leftovers(place)) {
    await rm(leftover, { recursive: true, force: true });
    log.info({ removed: leftover }, 'removed the folder of an earlier run, which was killed');
  }
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  await writeFile(join(folder, OWNER_FILE), JSON.stringify({ ...place, pid: process.pid }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function ownPlace(): Promise<Omit<RunOwner, 'pid'>> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => null);
  return { host: hostname(), namespace };
}

/** Folders of this user whose processes, on this machine, have ended. */
async function leftovers(place: Omit<RunOwner, 'pid'>): Promise<string[]> {
  const names = await readdir(tmpdir()).catch(() => []);
  const folders = names.filter(name => name.startsWith(PREFIX)).map(name => join(tmpdir(), name));
  const ended: string[] = [];
  for (const folder of folders) {
    const owner = await ownerOf(folder);
    const isFromHere = owner?.host === place.host && owner.namespace === place.namespace;
    if (isFromHere && !isRunning(owner.pid)) ended.push(folder);
  }
  return ended;
}

/** Owner of a folder that this user has created; undefined for any other folder. */
async function ownerOf(folder: string): Promise<RunOwner | undefined> {
  try {
    const state = await lstat(folder); // not what a link of another user points at
    // -1 on Windows, where files have 0.
    if (!state.isDirectory() || state.uid !== Math.max(userInfo().uid, 0)) return undefined;
    const owner: unknown = JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8'));
    if (!isPlainObject(owner)) return undefined;
    const { host, namespace, pid } = owner;
    if (typeof host !== 'string' || typeof pid !== 'number') return undefined;
    return { host, pid, namespace: typeof namespace === 'string' ? namespace : null };
  } catch {
    return undefined;
  }
}

/** True also for a process of another user, and for a later one with the same id. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
