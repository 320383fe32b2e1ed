import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type BalancerName, startBalancer } from '../lab/balancer.ts';
import { freePort, loopbackPort } from '../lab/loopback-server.ts';
import { until } from '../lab/until.ts';
import { ETHEREUM, type Program, programs } from './programs.ts';

const CLIENTS = 8;
const PAUSE_MS = 25;
/** Source: docs/nginx.conf. */
const FAIL_TIMEOUT_MS = 2_000;

const { start } = programs();
/** A Blockscout that has nothing. */
const upstream = createServer((_, response) => {
  response.statusCode = 404;
  response.end('{}');
});
let upstreamPort: number;

beforeAll(async () => {
  upstreamPort = await loopbackPort(upstream);
});
afterAll(() => void upstream.close());

function configOf(port: number): string {
  return `
data: { listen: "127.0.0.1:${port}", rateLimit: 1000000 }
admin: { listen: "127.0.0.1:0" }
trustedProxies: [127.0.0.1]
${ETHEREUM}
    backends: [{ kind: blockscout, url: "http://127.0.0.1:${upstreamPort}" }]
`;
}

const startAt = (port: number) => start(configOf(port), '--only', 'data');

async function isReady(port: number): Promise<boolean> {
  const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
    answer => answer.status,
    () => 0,
  );
  return status === 200;
}

/** Resolves once the process has answered a request of the clients. */
function hasServed(program: Program) {
  return program.entry(({ path, status }) => path === '/chains' && status === 200);
}

/** Clients that repeat nothing: they send requests until `end`, and collect each answer that is not a 200. */
function clientsOf(url: string) {
  const lost: string[] = [];
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const all = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const outcome = await fetch(`${url}/chains`).then(
        async answer => `${answer.status}${answer.status === 200 ? '' : await answer.text()}`,
        (error: unknown) => String(error),
      );
      if (!outcome.startsWith('200')) lost.push(outcome);
      await delay(PAUSE_MS);
    }
  });
  return {
    async end() {
      isOver = true;
      await Promise.all(all);
      return lost;
    },
  };
}

test.for<BalancerName>(['haproxy', 'nginx'])(
  'the answer of %s itself says when to try again, and only one Retry-After reaches a client',
  async name => {
    const ports = [await freePort(), await freePort()] as const;
    const unready = createServer((_, response) => {
      response.writeHead(503, { 'Retry-After': '7' }).end();
    });
    onTestFinished(() => void unready.close());
    const port = await loopbackPort(unready);
    await using balancer = await startBalancer(name, { data: ports, payments: [port, port] });
    const answered = async (url: string) => {
      const answer = await fetch(url);
      await answer.text();
      return [Math.floor(answer.status / 100), answer.headers.get('retry-after')];
    };

    const away = await until(
      () => answered(`${balancer.dataUrl}/chains`),
      ([, retryAfter]) => retryAfter !== null,
    );
    const given = await answered(`${balancer.paymentsUrl}/api/v1/payment-links`);

    expect(away).toEqual([5, '5']);
    // haproxy has taken the process out, because its check failed as well.
    expect([
      [5, '7'],
      [5, '5'],
    ]).toContainEqual(given);
  },
);

test.for<BalancerName>(['haproxy', 'nginx'])(
  'a rolling restart behind the documented %s loses no request',
  { timeout: 120_000 },
  async name => {
    const ports = [await freePort(), await freePort()] as const;
    const startReady = async (port: number) => {
      const program = await startAt(port);
      await until(() => isReady(port), Boolean);
      return program;
    };
    const processes: { port: number; program: Program }[] = [];
    for (const port of ports) processes.push({ port, program: await startReady(port) });
    await using balancer = await startBalancer(name, { data: ports, payments: ports });
    await until(
      async () => (await fetch(`${balancer.dataUrl}/chains`)).status,
      status => status === 200,
    );

    const clients = clientsOf(balancer.dataUrl);
    const codes: (number | null)[] = [];
    for (const { port, program } of processes) {
      await hasServed(program);
      program.child.kill('SIGTERM');
      codes.push(await program.exited);
      await hasServed(await startReady(port));
      // As an operator waits before the next process: each process of nginx tries one again after `fail_timeout`.
      await delay(FAIL_TIMEOUT_MS);
    }
    const lost = await clients.end();

    expect(lost).toEqual([]);
    expect(codes).toEqual([0, 0]);
  },
);
