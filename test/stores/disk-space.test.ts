import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type DiskReading, diskSpace, readDisk } from '../../src/stores/disk-space.ts';
import { writeConfig } from '../config/write-config.ts';

const [MIB, GIB] = [2 ** 20, 2 ** 30];

/** Disk whose free space the test sets, with the reserve of a configuration and one writer. */
function disk(text: string, totalBytes: number) {
  const lines: string[] = [];
  const state: { reading: DiskReading | undefined } = { reading: { freeBytes: totalBytes, totalBytes } };
  const metrics = createMetrics();
  const { diskReserve: reserve } = loadConfig({ file: writeConfig(text), env: {} });
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const space = diskSpace({ reserve, read: () => state.reading, metrics, log });
  return {
    ...space,
    hasRoom: space.writer('index-1', '/var/index-1.db'),
    free(freeBytes: number) {
      state.reading = { freeBytes, totalBytes };
    },
    unknown() {
      state.reading = undefined;
    },
    logged: () => lines.map(line => JSON.parse(line).msg),
    gauges: async () =>
      (await metrics.registry.metrics()).split('\n').filter(line => line.startsWith('tollgate_disk_')),
  };
}

describe('the reserve', () => {
  test.each([
    ['5% of a disk of 10 GiB', '', 10 * GIB, 512 * MIB],
    ['5% of a disk in memory of 64 MiB', '', 64 * MIB, 3.2 * MIB],
    ['2 GiB of a disk of 2 TiB', '', 2_048 * GIB, 2 * GIB],
    ['the configured size, however small the disk', 'diskReserve: 3GiB', 4 * GIB, 3 * GIB],
    ['the configured percentage, however large the disk', 'diskReserve: 10%', 2_000 * GIB, 200 * GIB],
    ['nothing with 0B', 'diskReserve: 0B', GIB, 0],
  ])('is %s', (_, text, totalBytes, reserved) => {
    const { free, hasRoom, status } = disk(text, totalBytes);

    free(Math.ceil(reserved));
    const isFreeAtReserve = hasRoom();
    free(Math.max(0, Math.ceil(reserved) - 1));
    const isFreeBelow = hasRoom();

    expect([isFreeAtReserve, isFreeBelow]).toEqual([true, reserved === 0]);
    expect(status()[0]?.reserved_bytes).toBe(Math.ceil(reserved));
  });
});

describe('a writer', () => {
  test('pauses below the reserve, goes on a tenth above it, and logs each change once', () => {
    const { free, hasRoom, logged } = disk('diskReserve: 100MB', GIB);
    const at = (freeBytes: number) => {
      free(freeBytes);
      return hasRoom();
    };

    const states = [100e6, 99e6, 50e6, 101e6, 109e6, 110e6, 101e6, 99e6].map(at);

    expect(states).toEqual([true, false, false, false, false, true, true, false]);
    expect(logged()).toEqual([
      'index-1 does not write: its disk has 99 MB free, and diskReserve keeps 100 MB for payments',
      'index-1 writes again: its disk has enough space',
      'index-1 does not write: its disk has 99 MB free, and diskReserve keeps 100 MB for payments',
    ]);
  });

  test('is shown with its disk in status, warnings and metrics, which notice a change by themselves', async () => {
    const { free, status, warnings, gauges, logged } = disk('diskReserve: 100MB', GIB);
    const before = [status(), warnings(), await gauges()];

    free(42_000_000);
    const after = [status(), warnings(), await gauges()];

    expect(before).toEqual([
      [{ writer: 'index-1', paused: false, free_bytes: GIB, reserved_bytes: 100_000_000 }],
      [],
      [
        `tollgate_disk_writes_paused{writer="index-1"} 0`,
        `tollgate_disk_free_bytes{writer="index-1"} ${GIB}`,
      ],
    ]);
    expect(after).toEqual([
      [{ writer: 'index-1', paused: true, free_bytes: 42_000_000, reserved_bytes: 100_000_000 }],
      ['index-1 does not write: its disk has 42 MB free, and diskReserve keeps 100 MB for payments'],
      [
        'tollgate_disk_writes_paused{writer="index-1"} 1',
        'tollgate_disk_free_bytes{writer="index-1"} 42000000',
      ],
    ]);
    expect(logged()).toHaveLength(1);
  });

  test('goes on, and is not shown, while its disk cannot be read', async () => {
    const { unknown, hasRoom, status, gauges } = disk('', GIB);

    unknown();

    expect([hasRoom(), status(), await gauges()]).toEqual([true, [], []]);
  });

  test('always has room without a file', () => {
    const { writer, free, status } = disk('', GIB);
    const hasRoom = writer('index-2', undefined);

    free(0);

    expect(hasRoom()).toBe(true);
    expect(status()).toHaveLength(1);
  });
});

test('the disk of a file is the one that a symbolic link leads to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-disk-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'file'), '');
  await symlink('/proc/self/status', join(folder, 'elsewhere'));

  const [here, elsewhere, missing] = ['file', 'elsewhere', 'missing'].map(name =>
    readDisk(join(folder, name)),
  );

  expect(here?.freeBytes).toBeGreaterThan(0);
  expect(here?.totalBytes).toBeGreaterThanOrEqual(here?.freeBytes ?? 0);
  expect([elsewhere, missing]).toEqual([undefined, undefined]); // /proc has no size
});
