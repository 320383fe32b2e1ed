import { expect, test } from 'vitest';
import { record } from '../lab/json.ts';
import { ANY_PORTS, ETHEREUM, type Program, programs } from './programs.ts';

const { start } = programs();

const CONFIG = `
${ANY_PORTS}
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends: [{ kind: index, database: "sqlite:./index.db" }]
`;

async function readAt({ log }: Program, path: string) {
  const { url } = log.findLast(({ msg }) => msg === 'listening') ?? {};
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, body: record(await answer.json()) };
}

const listening = ({ log }: Program) => log.filter(({ msg }) => msg === 'listening').length;

test('a process without an API role has only the admin listener, which shows its readiness', async () => {
  const [settlement, indexer] = await Promise.all([
    start(CONFIG, '--role', 'settlement'),
    start(CONFIG, '--role', 'indexer'),
  ]);
  await Promise.all([settlement.ready(), indexer.listening()]);

  const ready = await readAt(settlement, '/readyz');
  const state = await readAt(settlement, '/status');
  const behind = await readAt(indexer, '/readyz');
  const alive = await readAt(indexer, '/healthz');
  for (const { child } of [settlement, indexer]) child.kill('SIGTERM');

  expect([listening(settlement), listening(indexer)]).toEqual([1, 1]);
  expect(ready).toEqual({
    status: 200,
    body: {
      status: 'ready',
      checks: { 'settlement: database': { ok: true }, 'settlement: announced': { ok: true } },
    },
  });
  expect(state.body).toMatchObject({
    process: { roles: ['settlement'] },
    payments: { chains: [{ id: 1 }], processes: { payments: 0, settlement: 1, delivery: 0 } },
  });
  expect(behind).toMatchObject({ status: 503, body: { checks: { 'indexer: chain 1': { ok: false } } } });
  expect(alive.status).toBe(200);
  expect(await Promise.all([settlement.exited, indexer.exited])).toEqual([0, 0]);
});

test('an unknown role exits with 2 and a suggestion', async () => {
  const program = await start(CONFIG, '--role', 'setlement');

  expect(await program.exited).toBe(2);
  expect(program.errors()).toMatch(/--role takes .*; did you mean settlement\?/);
});
