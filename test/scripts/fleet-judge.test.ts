import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { random } from '../../scripts/faults/random.ts';
import { interruptions } from '../../scripts/fleet/interruptions.ts';
import type { Member } from '../../scripts/fleet/member.ts';
import { readKnown } from '../../scripts/fleet/reads.ts';
import { replicaClient, turningClient } from '../../scripts/fleet/replica-client.ts';
import { truth } from '../../scripts/fleet/truth.ts';
import { noteWaits } from '../../scripts/fleet/verdict.ts';
import { leadByWrongClock } from '../../scripts/fleet/wrong-clock.ts';
import { apiClient } from '../../src/command/api/client.ts';
import { freePort, loopbackPort } from '../lab/loopback-server.ts';

/** A replica on the loopback interface. */
async function replica(answer: RequestListener, { isReady = true } = {}) {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  const port = await loopbackPort(server);
  return { name: 'data 1', url: `http://127.0.0.1:${port}`, isReady: () => isReady };
}

const refusing = async () => {
  return { name: 'data 2', url: `http://127.0.0.1:${await freePort()}`, isReady: () => false };
};
const answering = () => replica((_, response) => void response.end('{}'));
const cutting = () => replica(({ socket }) => void socket.destroy());
const unavailable = (isReady: boolean) =>
  replica((_, response) => void response.writeHead(503).end('{}'), { isReady });

/** Observers of a disruption that collect violations. */
function observing(isGraceful = true) {
  const violations: string[] = [];
  const observers = {
    interruptions: interruptions(() => undefined),
    violation: (sentence: string) => void violations.push(sentence),
    violations,
  };
  observers.interruptions.begin('rolling: data', { isGraceful });
  return observers;
}

/** Violations of one request to a replica and then, if needed, to one that answers. */
async function violationsOf(first: Awaited<ReturnType<typeof replica>>, { isGraceful = true } = {}) {
  const observers = observing(isGraceful);
  const replicas = [first, await answering()];
  const reply = await replicaClient({ replicas, key: '', observers }).ask({ path: '/' });
  await turningClient({ replicas, observers }).ask({ path: '/' });
  expect(reply.kind).toBe('done');
  return observers.violations;
}

test('a request cut off in a rolling restart is lost, for every kind of client', async () => {
  expect(await violationsOf(await cutting())).toEqual([
    expect.stringContaining('rolling: data: GET / is lost: data 1: UND_ERR_SOCKET'),
    expect.stringContaining('rolling: data: GET / is lost: data 1: UND_ERR_SOCKET'),
  ]);
});

test('a 503 of a ready process is a lost request, one of a starting process is not', async () => {
  expect(await violationsOf(await unavailable(true))).toEqual([expect.stringContaining('data 1: 503')]);
  expect(await violationsOf(await unavailable(false))).toEqual([]);
});

test('a refused connection loses nothing, and a kill may cut off requests', async () => {
  expect(await violationsOf(await refusing())).toEqual([]);
  expect(await violationsOf(await cutting(), { isGraceful: false })).toEqual([]);
});

test('a leader whose clock is ahead has to say so in its status and its metrics', async () => {
  const violationsOfLeader = async (status: string, metrics: string) => {
    const { url } = await replica((request, response) =>
      response.end(request.url === '/status' ? status : metrics),
    );
    const { violations, violation } = observing();
    const { signal } = new AbortController();
    const [wrong, other] = [member('settlement 1', url), member('settlement 2', url)];
    await leadByWrongClock({ wrong, others: [other], leads: async () => 1, violation, signal });
    return violations;
  };
  const warning = '{"warnings":["the clock of this machine is 2400 s ahead of that of payments.database"]}';
  const ahead = (seconds: number) => `tollgate_clock_ahead_seconds{database="payments"} ${seconds}\n`;

  expect(await violationsOfLeader(warning, ahead(2_400))).toEqual([]);
  expect(await violationsOfLeader('{"warnings":[]}', ahead(0))).toEqual([
    '/status of settlement 1 does not warn of its clock',
    'no alert fires for the clock of settlement 1',
  ]);
});

/** A process of the fleet that only answers its operator. */
function member(name: string, adminUrl: string): Member {
  return {
    name,
    role: 'settlement',
    dataUrl: adminUrl,
    paymentsUrl: adminUrl,
    adminUrl,
    isReady: () => true,
    mostMemory: async () => 0,
    start: async () => undefined,
    kill: async () => undefined,
    end: async () => 0,
  };
}

test('the wait of a delivery ends with its first arrival at each webhook', async () => {
  const createdAt = Date.UTC(2026, 4, 4, 12);
  const data = { checkoutSession: { id: 'cs_1' } };
  const event = { id: 'evt_1', event: 'payment.completed', created_at: new Date(createdAt), data };
  const events = JSON.stringify({ data: [event], has_more: false });
  const { url } = await replica((_, response) => void response.end(events));
  const hooks = ['/0/steady/all', '/0/steady/payments'].map(path => {
    return { id: path, secret: '', kind: 'steady' as const, path, isSubscribed: () => true };
  });
  const sessions = new Set<string>();
  const shop = { key: '', client: apiClient({ url, key: '' }), hooks, recipient: '', sessions };
  const arrivalAt = (path: string, afterMs: number) => {
    const headers = { 'x-service-event-id': event.id };
    return { path, headers, body: Buffer.alloc(0), isTaken: true, receivedAt: createdAt + afterMs };
  };
  const waits = interruptions(() => undefined);
  waits.begin('kill -9 delivery');

  await noteWaits(
    [{ shop, sales: [] }],
    [
      arrivalAt('/0/steady/all', 50),
      arrivalAt('/0/steady/payments', 90_000),
      arrivalAt('/0/steady/payments', 95_000),
    ],
    { interruptions: waits, violation: () => undefined },
  );

  expect(waits.table()).toMatch(/^the longest of all .* 90\.00 s$/m);
});

/** Violations of reading a transaction that is in block 7, from a replica that shows it as pending or in `block`. */
async function violationsOfReading({
  cache,
  isGraceful,
  block: shownIn = null,
}: {
  cache: string;
  isGraceful: boolean;
  block?: number | null;
}) {
  const hash = '0xa1';
  const asked = new AbortController();
  const client = replicaClient({
    replicas: [
      await replica((request, response) => {
        const [, height] = /blocks\/(\d+)/.exec(request.url ?? '') ?? [];
        if (height === undefined) asked.abort();
        const block = { hash: '0xb1', parent_hash: '0xb0', height: Number(height), transaction_count: 0 };
        const pending = { hash, block_number: shownIn, from: '0x1', to: '0x2', value: '0', status: 'ok' };
        response.setHeader('x-cache', cache);
        response.end(JSON.stringify(height === undefined ? pending : block));
      }),
    ],
    key: '',
    observers: observing(),
  });
  const chain = {
    id: 1,
    ask: async (method: string) =>
      method === 'eth_getBlockByNumber'
        ? { hash: '0xb1', parentHash: '0xb0', transactions: [] }
        : { from: '0x1', to: '0x2', value: '0x0', blockNumber: '0x7', status: '0x1' },
  };
  const observers = observing(isGraceful);
  const reading = { client, chainIds: [1], truth: truth([chain]), random: random(1), observers, paid: [] };
  await readKnown({ ...reading, signal: asked.signal }, [{ chainId: 1, transactionHash: hash, shownAt: 0 }]);
  return observers.violations;
}

test('a pending answer for a mined transaction is wrong, unless it is stale in a disruption', async () => {
  const wrong = [expect.stringContaining('block_number is null, on the chain 7')];

  expect(await violationsOfReading({ cache: 'HIT', isGraceful: false })).toEqual(wrong);
  expect(await violationsOfReading({ cache: 'STALE', isGraceful: true })).toEqual(wrong);
  expect(await violationsOfReading({ cache: 'STALE', isGraceful: false })).toEqual([]);
  expect(await violationsOfReading({ cache: 'STALE', isGraceful: false, block: 8 })).toEqual([
    expect.stringContaining('block_number is 8, on the chain 7'),
  ]);
});
