import { Agent, get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record } from '../support/json.ts';
import { until } from '../support/until.ts';
import { ETHEREUM, type Program, programs } from './programs.ts';

const CONFIG = `
workers: 2
data: { listen: "127.0.0.1:0", rateLimit: 8 }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
trustedProxies: [127.0.0.1]
log: { requests: all }
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends: [{ kind: blockscout, url: "http://127.0.0.1:9/api/v2" }]
`;
const WORKERS = ['worker 1', 'worker 2', 'background'];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** One request; rejects when it is refused, reset or cut off. Without an agent it has a connection of its own. */
function ask(url: string, { agent, from }: { agent?: Agent; from?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = from === undefined ? {} : { 'X-Forwarded-For': from };
    get(url, { agent: agent ?? false, headers }, response => {
      response
        .on('error', reject)
        .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      response.resume();
    }).on('error', reject);
  });
}

async function adminUrl(program: Program): Promise<string> {
  const { url = '' } = await program.listening(); // the parent's, before any worker's
  return url;
}

/** State of each worker, by its name. */
async function workersOf(program: Program): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${await adminUrl(program)}/status`);
  const body = record(await answer.json());
  return WORKERS.map(name => record(body[name]));
}

async function pidsOf(program: Program): Promise<number[]> {
  return (await workersOf(program)).map(({ pid }) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** True once the log has answers of both workers to requests for a path. */
function answeredByBoth({ log }: Program, path: string): Promise<boolean> {
  const look = async () =>
    WORKERS.slice(0, 2).every(name => log.some(entry => entry.path === path && entry.worker === name));
  return until(look, isTrue);
}

const isTrue = (value: boolean) => value;

describe('with two workers', () => {
  const { start } = programs({ before: beforeAll, after: afterAll });
  let program: Program;
  let url = '';

  beforeAll(async () => {
    program = await start(CONFIG);
    ({ url = '' } = await program.ready());
  });

  test('one address is served by two processes, and a third one does the rest', async () => {
    for (let count = 0; count < 4; count += 1) await ask(`${url}/healthz?first`);
    const [one, two, background] = await workersOf(program);
    const ready = await fetch(`${await adminUrl(program)}/readyz`);

    expect(await answeredByBoth(program, '/healthz?first')).toBe(true);
    expect(new Set([one?.pid, two?.pid, background?.pid, program.child.pid]).size).toBe(4);
    expect([one?.roles, background?.roles]).toEqual([
      ['data', 'payments'],
      ['indexer', 'settlement', 'delivery'],
    ]);
    expect(record(await ready.json()).checks).toEqual({
      'worker 1': { ok: true },
      'worker 2': { ok: true },
      background: { ok: true },
    });
    expect(program.log.filter(({ msg }) => msg?.startsWith('ready'))).toHaveLength(1);
  });

  test('a limit holds for the address, whichever worker answers', async () => {
    const answers: Answer[] = [];
    for (let count = 0; count < 10; count += 1) {
      answers.push(await ask(`${url}/explorer/nothing?limited`, { from: '203.0.113.9' }));
    }

    expect(answers.map(({ status }) => status)).toEqual([...Array(8).fill(404), 429, 429]);
  });

  test('metrics of the workers are added up', async () => {
    const counted = async () => {
      const text = await (await fetch(`${await adminUrl(program)}/metrics`)).text();
      const [, count] =
        /^tollgate_http_requests_total\{operation="none",status="200"\} (\d+)$/m.exec(text) ?? [];
      return { count: Number(count), text };
    };
    const before = await counted();
    for (let count = 0; count < 6; count += 1) await ask(`${url}/healthz?counted`);
    expect(await answeredByBoth(program, '/healthz?counted')).toBe(true);
    const after = await counted();

    expect(after.count - before.count).toBe(6);
    expect(after.text).toContain('tollgate_payments_processes{role="payments"} 2');
    expect(after.text).toContain('tollgate_worker_up{worker="background"} 1');
  });

  test('a rolling restart under load loses no request', async () => {
    const before = await pidsOf(program);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const faults: unknown[] = [];
    const statuses = new Set<number>();
    let isOver = false;
    let closes = 0;
    const load = async (options: { agent?: Agent }) => {
      while (!isOver) {
        const answer = await ask(`${url}/healthz`, options).catch(fault => void faults.push(fault));
        if (answer === undefined) continue;
        statuses.add(answer.status);
        if (options.agent !== undefined && answer.headers.connection === 'close') closes += 1;
      }
    };

    const loads = [...Array(4).fill({ agent }), {}, {}].map(load);
    program.child.kill('SIGUSR2');
    await program.entry(({ msg }) => msg === 'all workers are replaced');
    isOver = true;
    await Promise.all(loads);
    agent.destroy();

    expect(faults).toEqual([]);
    expect([...statuses]).toEqual([200]);
    expect(closes).toBeGreaterThan(0);
    expect(before.map(isAlive)).toEqual([false, false, false]);
    expect((await pidsOf(program)).map(isAlive)).toEqual([true, true, true]);
    expect((await workersOf(program)).map(({ restarts }) => restarts)).toEqual([0, 0, 0]);
  });

  test('a worker that is killed is started again while the other one answers', async () => {
    const [killed = 0] = await pidsOf(program);
    process.kill(killed, 'SIGKILL');
    await program.entry(({ msg }) => msg === 'a worker ended and is started again');

    const meanwhile = await ask(`${url}/healthz`);

    expect(meanwhile.status).toBe(200);
    const isBack = until(async () => {
      const [worker] = await workersOf(program);
      return worker?.restarts === 1 && Number(worker.pid) > 0 && worker.data !== undefined;
    }, isTrue);
    expect(await isBack).toBe(true);
  });

  test('SIGTERM ends the parent and every worker', async () => {
    const pids = await pidsOf(program);

    program.child.kill('SIGTERM');

    expect(await program.exited).toBe(0);
    expect(pids.map(isAlive)).toEqual([false, false, false]);
  });
});

describe('workers', () => {
  const { start } = programs();

  test('end by themselves when their parent is gone', async () => {
    const program = await start(CONFIG, '--only', 'data');
    await program.ready();
    const pids = await pidsOf(program);

    program.child.kill('SIGKILL');
    await program.exited;

    expect(await until(async () => !pids.some(isAlive), isTrue)).toBe(true);
  });

  test('that cannot start end the program with the code and the words of the first one', async () => {
    const program = await start(
      CONFIG.replace('listen: "127.0.0.1:0", rateLimit', 'listen: "192.0.2.1:1", rateLimit'),
    );

    expect(await program.exited).toBe(1);
    expect(program.errors().match(/192\.0\.2\.1/g)).toHaveLength(1);
  });
});
