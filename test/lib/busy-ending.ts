import { open, openSync } from 'node:fs';
import { createLogger } from '#lib/logger.ts';
import { endProcess } from '../../src/program/ending.ts';

/**
 * Program that never exits by itself and whose thread pool, which writes the log, is busy for half a second. Argument: a
 * FIFO. Opening it for reading occupies a thread until it is opened for writing.
 */
const fifo = process.argv[2] ?? '';
setInterval(() => undefined, 60_000);
for (let thread = 0; thread < 4; thread += 1) open(fifo, () => undefined);
setTimeout(() => openSync(fifo, 'w'), 500);
endProcess({ withinMs: 50, log: createLogger({ level: 'warn' }) });
