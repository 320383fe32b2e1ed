import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RECEIVERS } from '#payments/dashboard/browser/webhooks/receivers.ts';
import { newId } from '../../src/lib/ids.ts';
import { webhookPayload } from '../../src/payments/events/event-data.ts';
import { testEventData } from '../../src/payments/events/test-event.ts';
import { newWebhookSecret, type WebhookSecrets } from '../../src/payments/model/webhook.ts';
import { attemptHeaders } from '../../src/payments/webhooks/attempt.ts';
import { freePort } from '../lab/loopback-server.ts';
import { until } from '../lab/until.ts';

const GUIDE = new URL('../../docs/payments.md', import.meta.url);
const NOW = Date.UTC(2026, 4, 4, 12);
const SECRET = newWebhookSecret();

/** A receiver and the command that starts it. `probe` succeeds where its language is installed. */
interface Program {
  readonly file: string;
  readonly command: string;
  /** Arguments of the command; of the program itself where `build` makes one. */
  readonly args: (file: string, port: number) => readonly string[];
  readonly probe: readonly string[];
  /** Arguments that compile the file to a program. */
  readonly build?: (file: string, program: string) => readonly string[];
  readonly comparesBy: string;
}

const alone = (file: string) => [file];
const ALL: readonly Program[] = [
  {
    file: 'receiver.mjs',
    command: process.execPath,
    args: alone,
    probe: ['--version'],
    comparesBy: 'timingSafeEqual(',
  },
  {
    file: 'receiver.py',
    command: 'python3',
    args: alone,
    probe: ['--version'],
    comparesBy: 'hmac.compare_digest(',
  },
  {
    file: 'receiver.go',
    command: 'go',
    args: () => [],
    probe: ['version'],
    build: (file, program) => ['build', '-o', program, file],
    comparesBy: 'hmac.Equal(',
  },
  {
    file: 'receiver.php',
    command: 'php',
    args: (file, port) => ['-S', `127.0.0.1:${port}`, file],
    probe: ['--version'],
    comparesBy: 'hash_equals(',
  },
  {
    file: 'receiver.rb',
    command: 'ruby',
    args: alone,
    probe: ['-e', 'require "webrick"'],
    comparesBy: 'OpenSSL.secure_compare(',
  },
];
/** Node and Python are always available; the others run only where their language is installed. */
const PROGRAMS = ALL.filter(({ command, probe }) => spawnSync(command, probe).status === 0);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The program with this name in the dashboard. */
function codeOf({ file }: Pick<Program, 'file'>): string {
  const receiver = RECEIVERS.find(one => one.file === file);
  if (receiver === undefined) throw new Error(`The dashboard shows no ${file}.`);
  return receiver.code;
}

/** The code block in docs/payments.md whose first line names the file. */
async function guideCodeOf(file: string): Promise<string | undefined> {
  const guide = await readFile(GUIDE, 'utf8');
  const blocks = [...guide.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);
  return blocks.find(code => code.split('\n')[0]?.endsWith(` ${file}`));
}

test.each(['receiver.mjs', 'receiver.py'])('the guide shows %s exactly like the dashboard', async file => {
  expect(await guideCodeOf(file)).toBe(codeOf({ file }));
});

test.each(ALL)('$file compares signatures in constant time', program => {
  const code = codeOf(program);

  expect(code).toContain(program.comparesBy);
  expect(code).not.toMatch(/(given|expected|signature)\)? ?===? ?/);
});

/** The command that starts a receiver, compiled first if its language requires it. */
async function started({ command, build }: Program, file: string): Promise<string> {
  if (build === undefined) return command;
  const program = `${file}.program`;
  await promisify(execFile)(command, build(file, program));
  return program;
}

/** Headers and body of a delivery with non-ASCII text. */
function delivery(secrets: WebhookSecrets = { current: SECRET, previous: null }) {
  const webhookId = newId('wh');
  const event = { id: newId('evt'), type: 'checkout.completed', createdAt: NOW } as const;
  const data = testEventData(event.type, NOW);
  const body = webhookPayload({ ...event, data }, webhookId).replace('order-1001', 'Größe “M” 🧾');
  const { id: eventId, type: eventType } = event;
  const of = { webhookId, deliveryId: newId('del'), eventId, eventType, isTest: false };
  const headers = (attempt: number) => attemptHeaders({ ...of, attempt, attemptedAt: NOW, body, secrets });
  return { eventId, body, headers };
}

describe.each(PROGRAMS)('$file of the dashboard', program => {
  let child: ChildProcess;
  let url: string;
  let said = '';

  beforeAll(async () => {
    const file = join(folder, program.file);
    await writeFile(file, codeOf(program));
    const port = await freePort();
    url = `http://127.0.0.1:${port}/hook`;
    const env = { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port), TMPDIR: folder };
    child = spawn(await started(program, file), program.args(file, port), {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout?.on('data', chunk => {
      said += chunk;
    });
    const isUp = () =>
      fetch(url, { method: 'POST', body: '{}' }).then(
        () => true,
        () => false,
      );
    expect(await until(isUp, Boolean)).toBe(true);
  });
  afterAll(async () => {
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  });

  /** Events that the program has printed, after those of every delivery so far. */
  async function printed(): Promise<readonly string[]> {
    const { eventId, body, headers } = delivery();
    expect(await send(body, headers(1))).toBe(204);
    return until(
      async () => said.split('\n'),
      lines => lines.includes(`checkout.completed ${eventId}`),
    );
  }

  async function send(body: string, headers: Record<string, string>): Promise<number> {
    const response = await fetch(url, { method: 'POST', body, headers });
    await response.arrayBuffer();
    return response.status;
  }

  test('accepts a delivery signed with its secret, and acts once on repetitions', async () => {
    const { eventId, body, headers } = delivery();

    const statuses = [await send(body, headers(1)), await send(body, headers(2))];

    expect(statuses).toEqual([204, 204]);
    const lines = await printed();
    expect(lines.filter(line => line === `checkout.completed ${eventId}`)).toHaveLength(1);
  });

  test('accepts a delivery signed with its secret as the previous one', async () => {
    const previous = { secret: SECRET, until: NOW + 1 };
    const { body, headers } = delivery({ current: newWebhookSecret(), previous });

    expect(await send(body, headers(1))).toBe(204);
  });

  test('refuses a changed body, even by a space', async () => {
    const { eventId, body, headers } = delivery();

    const statuses = [
      await send(body.replace('12500000', '12500001'), headers(1)),
      await send(`${body} `, headers(1)),
      await send(JSON.stringify(JSON.parse(body), null, 1), headers(1)),
    ];

    expect(statuses).toEqual([401, 401, 401]);
    expect((await printed()).join()).not.toContain(eventId);
  });

  test('refuses a delivery signed with another secret', async () => {
    const { body, headers } = delivery({ current: newWebhookSecret(), previous: null });

    expect(await send(body, headers(1))).toBe(401);
  });

  test.each([
    ['none', undefined],
    ['an empty text', ''],
    ['a part of it', (whole: string) => whole.slice(0, 62)],
    ['longer than the real one', (whole: string) => `${whole}00`],
    ['not hexadecimal', 'ö'.repeat(64)],
  ])('refuses a delivery whose signature is %s', async (_, made) => {
    const { body, headers } = delivery();
    const { 'X-Service-Signature': whole = '', ...others } = headers(1);
    const signature = typeof made === 'function' ? made(whole) : made;

    const status = await send(body, {
      ...others,
      ...(signature === undefined ? {} : { 'X-Service-Signature': signature }),
    });

    expect(status).toBe(401);
  });
});
