import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory that a test can fill. `await using` removes it, once all its files are closed. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  freeBytes(): number;
  /** Takes space until at most so many bytes are free. */
  fill(freeBytes: number): void;
  /** Gives the space back that `fill` took. */
  empty(): void;
}

const BLOCK = Buffer.alloc(64 * 1024);

/**
 * Mounts a file system of a fixed size.
 * @throws Error without the right to mount, which root has
 */
export function smallDisk(bytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', folder], {
      stdio: 'pipe',
    });
  } catch (error) {
    rmdirSync(folder);
    throw new Error('This test mounts a small file system: run it as root.', { cause: error });
  }
  const remove = () => {
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  };
  process.once('exit', remove);
  const filler = join(folder, 'filler');
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };

  return {
    folder,
    freeBytes,
    fill(wanted) {
      const file = openSync(filler, 'a');
      try {
        for (let free = freeBytes(); free > wanted; free = freeBytes())
          writeSync(file, BLOCK, 0, Math.min(BLOCK.length, free - wanted));
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}
