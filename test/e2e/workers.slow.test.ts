import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type ClientRequest, get, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record } from '../lab/json.ts';
import { until } from '../lab/until.ts';
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

/**
 * Status of one request; rejects when it is refused, reset or cut off. Without an agent it uses its own connection.
 */
function ask(url: string, { agent, from }: { agent?: Agent; from?: string } = {}): Promise<number> {
  const headers = from === undefined ? {} : { 'X-Forwarded-For': from };
  return statusOf(get(url, { agent: agent ?? false, headers }));
}

function statusOf(asked: ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    asked.on('error', reject).on('response', response => {
      response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
  });
}

/** A request that a worker has accepted and whose body is incomplete. */
async function openPost(url: string) {
  const body = JSON.stringify({ tx_hash: `0x${'ab'.repeat(32)}` });
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    Expect: '100-continue',
  };
  const asked = request(url, { method: 'POST', agent: false, headers });
  const status = statusOf(asked);
  asked.flushHeaders();
  await Promise.race([once(asked, 'continue'), status]);
  asked.write(body.slice(0, 10));
  return {
    complete() {
      asked.end(body.slice(10));
      return status;
    },
  };
}

async function adminUrl(program: Program): Promise<string> {
  const { url = '' } = await program.listening(); // the parent's listener comes before those of workers
  return url;
}

/** State of each worker, in the order of `WORKERS`. */
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

/** True once the log has answers of both workers for a path. */
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
  let paymentsUrl = '';

  beforeAll(async () => {
    program = await start(CONFIG);
    const ready = await program.ready();
    url = ready.url ?? '';
    paymentsUrl = ready.payments?.url ?? '';
  });

  test('one address is served by two processes, and a third one does the background work', async () => {
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

  test('a limit per address holds over both workers', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      statuses.push(await ask(`${url}/explorer/nothing?limited`, { from: '203.0.113.9' }));
    }

    expect(statuses).toEqual([...Array(8).fill(404), 429, 429]);
  });

  test('metrics of the workers are summed', async () => {
    const counted = async () => {
      const text = await (await fetch(`${await adminUrl(program)}/metrics`)).text();
      const [, count] =
        /^tollgate_http_requests_total\{operation="none",status="404"\} (\d+)$/m.exec(text) ?? [];
      return { count: Number(count), text };
    };
    const before = await counted();
    for (let count = 0; count < 6; count += 1) await ask(`${url}/explorer/nothing?counted`);
    expect(await answeredByBoth(program, '/explorer/nothing?counted')).toBe(true);
    const after = await counted();

    expect(after.count - before.count).toBe(6);
    expect(after.text).toContain('tollgate_payments_processes{role="payments"} 2');
    expect(after.text).toMatch(/^tollgate_build_info\{version=".+",commit=".+"\} 1$/m);
    expect(after.text).toContain('tollgate_worker_up{worker="background"} 1');
  });

  test('a rolling restart under load loses no request', async () => {
    const before = await workersOf(program);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const faults: unknown[] = [];
    const statuses = new Set<number>();
    let isOver = false;
    const load = async (options: { agent?: Agent }) => {
      while (!isOver) {
        const status = await ask(`${url}/healthz`, options).catch(fault => void faults.push(fault));
        if (status !== undefined) statuses.add(status);
      }
    };

    const claims = `${paymentsUrl}/api/v1/pay/sessions/cs_missing/claims`;
    const posts = [await openPost(claims), await openPost(claims)];
    const loads = [...Array(4).fill({ agent }), {}, {}].map(load);
    program.child.kill('SIGUSR2');
    await program.entry(({ msg, worker }) => msg === 'stopping' && worker === 'worker 1');
    const posted = await Promise.all(posts.map(post => post.complete()));
    await program.entry(({ msg }) => msg === 'all workers are replaced');
    isOver = true;
    await Promise.all(loads);
    agent.destroy();

    expect(faults).toEqual([]);
    expect([...statuses]).toEqual([200]);
    expect(posted).toEqual([404, 404]);
    expect(await answeredByBoth(program, '/api/v1/pay/sessions/cs_miss***/claims')).toBe(true);
    const after = await workersOf(program);
    expect(before.map(({ pid }) => isAlive(Number(pid)))).toEqual([false, false, false]);
    expect(after.map(({ pid }) => isAlive(Number(pid)))).toEqual([true, true, true]);
    expect(after.map(({ restarts }) => restarts)).toEqual(before.map(({ restarts }) => restarts));
  });

  test('a killed worker is restarted while the other one answers', async () => {
    const [killed] = await workersOf(program);
    process.kill(Number(killed?.pid), 'SIGKILL');
    await program.entry(({ msg }) => msg === 'a worker ended and will be restarted');

    const meanwhile = await ask(`${url}/healthz`);

    expect(meanwhile).toBe(200);
    // On a busy machine the start of a process takes several seconds.
    await expect
      .poll(async () => (await workersOf(program))[0])
      .toMatchObject({
        restarts: Number(killed?.restarts) + 1,
        pid: expect.any(Number),
        data: expect.anything(),
      });
  });
});

describe('workers', () => {
  const { start } = programs();

  test('return the connections that they were passed while they left', async () => {
    const program = join(import.meta.dirname, 'leaving-worker.ts');

    const { stdout } = await promisify(execFile)(process.execPath, [program]);

    expect(JSON.parse(stdout)).toEqual([200, 200]);
  });

  test('end with their parent on SIGTERM', async () => {
    const program = await start(CONFIG, '--only', 'data');
    await program.ready();
    const pids = await pidsOf(program);

    program.child.kill('SIGTERM');

    expect(await program.exited).toBe(0);
    expect(pids.map(isAlive)).toEqual([false, false, false]);
  });

  test('end by themselves when their parent dies', async () => {
    const program = await start(CONFIG, '--only', 'data');
    await program.ready();
    const pids = await pidsOf(program);

    program.child.kill('SIGKILL');
    await program.exited;

    expect(await until(async () => !pids.some(isAlive), isTrue)).toBe(true);
  });

  test('that cannot start end the program with the code and message of the first one', async () => {
    const program = await start(
      CONFIG.replace('payments: {', 'payments: { database: "postgres://127.0.0.1:9/shop",'),
    );

    expect(await program.exited).toBe(2);
    expect(program.errors().match(/payments\.database/g)).toHaveLength(1);
  });
});
