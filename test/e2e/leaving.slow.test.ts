import { expect, test } from 'vitest';
import { until } from '../lab/until.ts';
import { ETHEREUM, type Program, programs } from './programs.ts';

const { start } = programs();

const LAME_DUCK_MS = 2_000;

const configOf = (more: string) => `
data: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
server: { lameDuck: ${LAME_DUCK_MS}ms }
${more}
${ETHEREUM}
    backends: [{ kind: blockscout, url: "http://127.0.0.1:9" }]
`;

/** Statuses of the data service and of the operator's listener. */
async function statusesOf({ log }: Program, path: string) {
  const urls = log.filter(({ msg }) => msg === 'listening').map(({ url }) => url);
  return Promise.all(urls.map(async url => (await fetch(`${url}${path}`)).status));
}

test.for([
  ['a process', '', 2],
  ['a parent with two workers', 'workers: 2', 3],
] as const)(
  '%s is not ready after SIGTERM, and goes on answering for server.lameDuck',
  async ([, more, listeners]) => {
    const program = await start(configOf(more), '--only', 'data');
    await program.ready();
    const before = await until(
      () => statusesOf(program, '/readyz'),
      all => all.length === listeners && all.every(status => status === 200),
    );

    const stoppedAt = performance.now();
    program.child.kill('SIGTERM');
    await program.entry(({ msg }) => msg === 'no longer ready, and stopping soon');
    const during = await until(
      () => statusesOf(program, '/readyz'),
      all => all.every(status => status === 503),
    );
    const alive = await statusesOf(program, '/healthz');
    const code = await program.exited;

    expect([before, during, alive]).toEqual([200, 503, 200].map(status => before.map(() => status)));
    expect(code).toBe(0);
    expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(LAME_DUCK_MS);
  },
);

test('Ctrl+C ends a process without that wait', async () => {
  const program = await start(configOf(''), '--only', 'data');
  await program.ready();

  program.child.kill('SIGINT');

  expect(await program.exited).toBe(0);
  expect(program.log.map(({ msg }) => msg)).not.toContain('no longer ready, and stopping soon');
});
