import { pbkdf2 } from 'node:crypto';
import { createLogger } from '#lib/logger.ts';
import { endProcess } from '#lib/process-end.ts';

/** Program that never exits by itself and whose thread pool, which writes the log, is busy for about half a second. */
setInterval(() => undefined, 60_000);
for (let thread = 0; thread < 4; thread += 1)
  pbkdf2('password', 'salt', 500_000, 64, 'sha512', () => undefined);
endProcess({ withinMs: 50, log: createLogger({ level: 'warn' }) });
