import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const FLEET = fileURLToPath(new URL('../../scripts/fleet.ts', import.meta.url));

/** The short form of `npm run fleet -- --hostile`. */
test.for(['findings', 'always'])(
  'with `prove: %s`, a chain that a stranger attacks loses no payment, gives every answer and causes no connection',
  { timeout: 180_000 },
  async prove => {
    const options = ['--hostile', '--short', '--database', 'sqlite', '--prove', prove];
    const child = spawn(process.execPath, [FLEET, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);

    expect(report).toContain('\n0 violations');
    expect(code).toBe(0);
  },
);
