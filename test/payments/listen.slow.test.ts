import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '../../src/command/api/client.ts';
import { eventFeed } from '../../src/command/listen/event-feed.ts';
import { forwardEvents, readListenCommand } from '../../src/command/listen/listen.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { newId } from '../../src/lib/ids.ts';
import { eventStore } from '../../src/payments/events/event-store.ts';
import { testEventData } from '../../src/payments/events/test-event.ts';
import { issueKey } from '../../src/payments/keys/issue-key.ts';
import type { PaymentEvent } from '../../src/payments/model/event.ts';
import { newWebhookSecret } from '../../src/payments/model/webhook.ts';
import { seals } from '../../src/payments/secrets/sealed.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { anOrganization } from '../lab/payments-records.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { startReceiver, type WebhookReceiver } from '../lab/webhook-receiver.ts';
import { briskClock } from '../support/brisk-clock.ts';
import { postgresDatabase } from '../support/databases.ts';
import { loopbackSender } from '../support/loopback-sender.ts';

const PROGRAM = fileURLToPath(new URL('../../scripts/listen.ts', import.meta.url));
const execute = promisify(execFile);
const SECRET_KEY = 'seals-the-events-that-these-tests-write-themselves';

// Events are written directly to the database, as by another process. This requires PostgreSQL.
let database: Awaited<ReturnType<typeof postgresDatabase>>;
let service: TestPaymentsService;
let db: Db;

const start = (port = 0) =>
  startTestPayments(database.options, { port, secretKey: { kind: 'value', value: SECRET_KEY } });

beforeAll(async () => {
  database = await postgresDatabase('payments');
  service = await start();
  db = openDatabase(database.options);
});
afterAll(async () => {
  await service.close();
  await db.destroy();
  await database.remove();
});

/** An organization with a read key, and a function that records events at a time, in this order. */
async function shop() {
  const { id: organizationId, ...organization } = anOrganization({ id: newId('org') });
  await organizationStore(db).insert({ id: organizationId, ...organization });
  const owner = { organizationId, mode: 'test' } as const;
  const draft = { ...owner, name: 'Reader', permission: 'read', expiresAt: null } as const;
  const { secret: key } = await issueKey(db, draft, Date.now());
  return {
    key,
    async happens(...times: number[]): Promise<string[]> {
      const events = times.map((createdAt, order) => {
        const type = 'payment.completed' as const;
        const data = testEventData(type, createdAt);
        if ('message' in data) throw new Error('not the data of a payment');
        const event: PaymentEvent = { ...owner, id: newId('evt'), type, createdAt, data };
        return { event, fact: newId('fact'), order };
      });
      await eventStore(db, seals([SECRET_KEY])).insert(events);
      return events.map(({ event }) => event.id);
    },
  };
}

/** Lines of the output so far. */
function transcript() {
  let said = '';
  const lines = () => said.split('\n').slice(0, -1);
  return {
    add: (text: string) => {
      said += text;
    },
    lines,
    saying: (what: string | RegExp) =>
      until(
        async () => lines(),
        all => all.some(line => line.match(what)),
      ),
  };
}

/** Runs the program in this process, from the parsed command on, with pauses cut to a tenth. */
async function forwarding(to: WebhookReceiver, { key, since }: { key: string; since?: number }) {
  const { add, saying } = transcript();
  const ending = new AbortController();
  const { signal } = ending;
  const clock = briskClock;
  const sender = loopbackSender();
  const ended = forwardEvents({
    feed: eventFeed({ client: apiClient({ url: service.url, key, signal }), since, clock, signal }),
    since,
    sender,
    clock,
    forwardTo: `${to.url}/hook`,
    secret: newWebhookSecret(),
    say: line => add(`${line}\n`),
    signal,
  }).catch(error => {
    if (!signal.aborted) throw error;
  });
  await saying('Ctrl');
  return {
    saying,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await sender.close();
      await ended;
    },
  };
}

/** The program in its own process, once it listens. `end` stops it like Ctrl+C. */
async function listening(to: WebhookReceiver, { key, secret }: { key: string; secret?: string }) {
  const options = ['--url', service.url, '--forward-to', `${to.url}/hook`];
  const child = spawn(process.execPath, [PROGRAM, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TOLLGATE_KEY: key, TOLLGATE_WEBHOOK_SECRET: secret },
  });
  const gone = once(child, 'exit');
  const { add, lines, saying } = transcript();
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => add(String(chunk)));
  await saying('Ctrl');
  return {
    saying,
    pid: child.pid,
    secret: /^Secret: (\S+)$/m.exec(lines().join('\n'))?.[1] ?? '',
    async end(): Promise<number | null> {
      child.kill('SIGINT');
      await gone;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Runs the program until it exits by itself. */
async function run(...args: string[]): Promise<{ code: number | null; err: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', chunk => {
    err += chunk;
  });
  await once(child, 'close');
  return { code: child.exitCode, err };
}

function eventsAt({ arrivals }: WebhookReceiver): string[] {
  return arrivals.map(({ eventId }) => eventId);
}

function arrived(receiver: WebhookReceiver, count: number): Promise<string[]> {
  return until(
    async () => eventsAt(receiver),
    ids => ids.length >= count,
  );
}

test('new events arrive signed with the printed secret, and a read key is enough', async () => {
  const { key, happens } = await shop();
  await happens(Date.now() - 1_000);
  await using receiver = await startReceiver();
  await using program = await listening(receiver, { key });

  const [id = ''] = await happens(Date.now());

  expect(await arrived(receiver, 1)).toEqual([id]);
  const [{ body, headers, path } = { body: '', headers: {}, path: '' }] = receiver.arrivals;
  expect(path).toBe('/hook');
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const verified = new Webhook(program.secret).verify(body, texts);
  expect(verified).toMatchObject({ id, event: 'payment.completed' });
  expect(await program.saying(new RegExp(`payment.completed  ${id}  204 in \\d+ ms$`))).toHaveLength(3);
});

test('a secret in the environment signs, and neither it nor the key is an argument of the process', async () => {
  const { key, happens } = await shop();
  const secret = newWebhookSecret();
  await using receiver = await startReceiver();
  await using program = await listening(receiver, { key, secret });

  await happens(Date.now());
  await arrived(receiver, 1);

  const [{ body, headers } = { body: '', headers: {} }] = receiver.arrivals;
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  expect(new Webhook(secret).verify(body, texts)).toMatchObject({ event: 'payment.completed' });
  const { stdout: shown } = await execute('ps', ['-o', 'args=', '-p', String(program.pid)]);
  expect(shown).toContain(receiver.url);
  expect(shown).not.toContain(key);
  expect(shown).not.toContain(secret);
});

test('earlier events arrive with --since', async () => {
  const { key, happens } = await shop();
  const now = Date.now();
  const [, second, third] = await happens(now - 7_200_000, now - 3_600_000, now - 60_000);
  await using receiver = await startReceiver();
  await using _ = await forwarding(receiver, { key, since: now - 3_600_000 });

  expect(await arrived(receiver, 2)).toEqual([second, third]);
});

test('events beyond one page, many in one millisecond, all arrive once and in order', async () => {
  const { key, happens } = await shop();
  await using receiver = await startReceiver();
  await using _ = await forwarding(receiver, { key });
  const now = Date.now();

  const ids = await happens(...Array.from({ length: 250 }, (_, index) => now + Math.floor(index / 7)));
  await arrived(receiver, 250);
  const [last = ''] = await happens(now + 1_000);

  expect(await arrived(receiver, 251)).toEqual([...ids, last]);
});

test('an event that appears late among older ones still arrives', async () => {
  const { key, happens } = await shop();
  await using receiver = await startReceiver();
  await using _ = await forwarding(receiver, { key });
  const now = Date.now();
  const newer = await happens(now, now);
  await arrived(receiver, 2);

  const late = await happens(now - 30_000, now);

  expect(await arrived(receiver, 4)).toEqual([...newer, ...late]);
});

test('a refused event is retried, and the next event waits', async () => {
  const { key, happens } = await shop();
  await using receiver = await startReceiver(({ number }) => (number === 1 ? 500 : 200));
  await using program = await forwarding(receiver, { key });

  const [first = '', second = ''] = await happens(Date.now(), Date.now());

  expect(await arrived(receiver, 3)).toEqual([first, first, second]);
  expect(receiver.arrivals.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
  expect(new Set(receiver.arrivals.slice(0, 2).map(({ hash }) => hash)).size).toBe(1);
  const lines = await program.saying(second);
  expect(lines.filter(line => line.includes(first))).toEqual([
    expect.stringMatching(/500 in \d+ ms {2}The receiver answered 500\. Again in 1 s\.$/),
    expect.stringMatching(/200 in \d+ ms$/),
  ]);
});

test('after an outage of the server forwarding continues without duplicates', async () => {
  const { key, happens } = await shop();
  await using receiver = await startReceiver();
  await using program = await forwarding(receiver, { key });
  const before = await happens(Date.now());
  await arrived(receiver, 1);

  await service.close();
  await program.saying('does not answer as a payments server');
  const meanwhile = await happens(Date.now());
  service = await start(Number(new URL(service.url).port));

  expect(await arrived(receiver, 2)).toEqual([...before, ...meanwhile]);
  expect(await program.saying('answers again')).not.toHaveLength(0);
});

test('Ctrl+C exits with 0, even while a receiver does not answer', async () => {
  const { key, happens } = await shop();
  await using receiver = await startReceiver(() => () => {});
  await using program = await listening(receiver, { key });
  await happens(Date.now());
  await arrived(receiver, 1);

  const startedAt = Date.now();
  const code = await program.end();

  expect(code).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(15_000); // half of what a receiver is given
});

test('a refused key exits with 1', async () => {
  const { key } = await shop();
  const { code, err } = await run(
    '--url',
    service.url,
    '--forward-to',
    'http://127.0.0.1:9',
    '--key',
    `${key}x`,
  );

  expect([code, err]).toEqual([1, expect.stringMatching(/^key_invalid: /)]);
});

test('an invalid command exits with 2 and names the help', async () => {
  const { code, err } = await run('--forward-to', 'http://localhost');

  expect(code).toBe(2);
  expect(err).toContain('the API key is missing');
  expect(err).toContain('"tollgate listen --help" shows the options.');
});

test('a time is parsed to the millisecond', () => {
  const command = readListenCommand([
    '--key',
    'k',
    '--forward-to',
    'http://a',
    '--since',
    '2031-01-01T00:00:00.5Z',
  ]);

  expect(command).toMatchObject({ since: Date.UTC(2031, 0, 1, 0, 0, 0, 500) });
});

test.each([
  ['no key', ['--forward-to', 'http://localhost'], 'the API key is missing'],
  ['no receiver', ['--key', 'k'], '--forward-to is missing'],
  ['an invalid receiver', ['--key', 'k', '--forward-to', 'localhost:80'], '--forward-to takes the address'],
  [
    'an invalid time',
    ['--key', 'k', '--forward-to', 'http://localhost', '--since', '1'],
    '--since takes a time',
  ],
  [
    'an invalid secret',
    ['--key', 'k', '--forward-to', 'http://localhost', '--secret', 'x'],
    'must begin with whsec_',
  ],
  ['an unknown option', ['--forward', 'x'], "Unknown option '--forward'"],
])('%s is refused', (_, args, fault) => {
  expect(() => readListenCommand(args)).toThrow(fault);
});
