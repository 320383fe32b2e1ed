import { statfsSync } from 'node:fs';
import { Gauge } from 'prom-client';
import type { Metrics } from '../http/metrics.ts';
import type { Logger } from '../lib/logger.ts';

/** Free space that writers leave on a file system: a share of it, from 0 to 1, but at most `mostBytes`. */
export interface DiskReserve {
  readonly share: number;
  readonly mostBytes: number;
}

/** Sizes of a file system, in bytes. */
export interface DiskReading {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DiskSpaceSettings {
  /** Nothing when absent. */
  readonly reserve?: DiskReserve;
  /** Reads the file system of a file; `readDisk` when absent. Undefined when it cannot be read. */
  readonly read?: ((file: string) => DiskReading | undefined) | undefined;
}

export interface DiskSpaceOptions extends DiskSpaceSettings {
  readonly metrics: Pick<Metrics, 'registry'>;
  readonly log: Logger;
}

/** Writers of one process that pause while their disks have too little space. */
export interface DiskSpace {
  /**
   * Adds a writer of a file. Returns a function that is to be called before each write and is true while there is room.
   * Without a file there always is.
   */
  writer(name: string, file: string | undefined): HasRoom;
  /** State of all writers, for the operator. */
  status(): readonly DiskStatus[];
  /** A sentence for each paused writer. */
  warnings(): readonly string[];
}

export type HasRoom = () => boolean;

interface DiskStatus {
  readonly writer: string;
  readonly paused: boolean;
  readonly free_bytes: number;
  readonly reserved_bytes: number;
}

const NOTHING: DiskReserve = { share: 0, mostBytes: 0 };
/** Part of the reserve that must be free beyond it before a paused writer goes on. */
const MARGIN = 0.1;

/**
 * Pauses writers whose content can be built again while less space is free than the reserve (Decision 271). Reads the
 * file system before every write, which takes two microseconds: any program can fill it at any time.
 */
export function diskSpace({ reserve = NOTHING, read = readDisk, metrics, log }: DiskSpaceOptions): DiskSpace {
  const looks: (() => DiskStatus | undefined)[] = [];
  const status = () => looks.map(look => look()).filter(one => one !== undefined);
  registerGauges(metrics.registry, status);

  return {
    writer(name, file) {
      if (file === undefined) return () => true;
      const look = watched(name, file);
      looks.push(look);
      return () => look()?.paused !== true;
    },
    status,
    warnings: () => status().flatMap(one => (one.paused ? [sentenceOf(one)] : [])),
  };

  /** Reads the state of a writer, and logs when it has changed. Undefined while the file system cannot be read. */
  function watched(writer: string, file: string): () => DiskStatus | undefined {
    let paused = false;
    return () => {
      const reading = read(file);
      if (reading === undefined) return undefined;
      const reserved = reservedOn(reading, reserve);
      const before = paused;
      paused = reading.freeBytes < reserved + (before ? reserved * MARGIN : 0);
      const seen = { writer, paused, free_bytes: reading.freeBytes, reserved_bytes: reserved };
      if (paused && !before) log.warn({ ...seen, file }, sentenceOf(seen));
      if (!paused && before) log.info({ ...seen, file }, `${writer} writes again: its disk has enough space`);
      return seen;
    };
  }
}

/** The reason why a file, or one in a folder, would not be written now; undefined while there is room. */
export function diskShortage(path: string, reserve: DiskReserve): string | undefined {
  const reading = readDisk(path);
  if (reading === undefined) return undefined;
  const reserved = reservedOn(reading, reserve);
  return reading.freeBytes < reserved ? shortageText(reading.freeBytes, reserved) : undefined;
}

function reservedOn({ totalBytes }: DiskReading, { share, mostBytes }: DiskReserve): number {
  return Math.ceil(Math.min(totalBytes * share, mostBytes));
}

function sentenceOf({ writer, free_bytes: free, reserved_bytes: reserved }: DiskStatus): string {
  return `${writer} does not write: ${shortageText(free, reserved)}`;
}

function shortageText(free: number, reserved: number): string {
  return `its disk has ${megabytes(free)} free, and diskReserve keeps ${megabytes(reserved)} for payments`;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1e6)} MB`;
}

/** Reads the file system of a file. Undefined when it fails or tells no size, as some network file systems do. */
export function readDisk(file: string): DiskReading | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(file);
    return blocks === 0 ? undefined : { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined; // a write will report what is wrong
  }
}

function registerGauges(registry: Metrics['registry'], status: DiskSpace['status']): void {
  const labelNames = ['writer'];
  const registers = [registry];
  new Gauge({
    name: 'tollgate_disk_writes_paused',
    help: '1 while a cache or an index does not write because its disk has too little space, by writer',
    labelNames,
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      for (const { writer, paused } of status()) this.set({ writer }, Number(paused));
    },
  });
  new Gauge({
    name: 'tollgate_disk_free_bytes',
    help: 'Free space on the disk of a cache or an index, by writer',
    labelNames,
    aggregator: 'min',
    registers,
    collect() {
      this.reset();
      for (const { writer, free_bytes: free } of status()) this.set({ writer }, free);
    },
  });
}
