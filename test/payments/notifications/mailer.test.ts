import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { createMailer, type Mail, type Mailer, smtpMailer } from '#payments/notifications/mailers.ts';
import { freePort } from '../../lab/loopback-server.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { parsedMail, type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const clock = manualClock();
const silent = createLogger({ level: 'silent' });
let receiver: SmtpReceiver;
let mailer: Mailer;

beforeAll(async () => {
  receiver = await startSmtpReceiver();
  const mail = { smtp: receiver.url, from: 'Tollgate <pay@shop.example>' };
  mailer = createMailer({ mail, folder: '/nowhere', clock, log: silent });
});
afterAll(async () => {
  await mailer.close();
  await receiver[Symbol.asyncDispose]();
});
beforeEach(() => {
  receiver.behaviour = {};
  receiver.mails.length = 0;
});

function aMail(changes: Partial<Mail> = {}): Mail {
  return {
    id: 'ntc_1',
    to: 'orders@books.example',
    subject: 'Payment received: 2.5 USDC',
    text: 'Grüße\n',
    html: '<p>Grüße</p>',
    ...changes,
  };
}

test('a mail arrives with a text and an HTML part, from the configured sender', async () => {
  await mailer.send(aMail());

  const [mail] = receiver.mails;
  expect(mail).toMatchObject({ from: 'pay@shop.example', to: ['orders@books.example'] });
  expect(mail?.headers).toEqual(
    expect.arrayContaining([
      'From: Tollgate <pay@shop.example>',
      'To: orders@books.example',
      'Subject: Payment received: 2.5 USDC',
      'Message-ID: <ntc_1@shop.example>',
      'Auto-Submitted: auto-generated',
      'Date: Mon, 04 May 2026 12:00:00 +0000',
    ]),
  );
  expect(mail?.parts['text/plain']).toContain('Grüße');
  expect(mail?.parts['text/html']).toContain('<p>Grüße</p>');
});

test.each([
  '\r\nBcc: thief@evil.example',
  '\nBcc: thief@evil.example',
  '\r\n\r\nanother body',
  '\u2028Bcc: x@y.example',
  '\0Bcc: x',
])('a subject with %j adds no header, no recipient and no body', async injected => {
  await mailer.send(aMail({ subject: `Payment of ${injected}` }));

  const [mail] = receiver.mails;
  expect(mail?.to).toEqual(['orders@books.example']);
  expect(mail?.headers.filter(line => /^(bcc|cc|another)/i.test(line))).toEqual([]);
  expect(mail?.headers.filter(line => /^subject/i.test(line))).toHaveLength(1);
  expect(Object.keys(mail?.parts ?? {}).sort()).toEqual(['text/html', 'text/plain']);
});

test.each([
  'a@b.example\r\nBcc: thief@evil.example',
  'a@b.example\nRCPT TO:<thief@evil.example>',
  'a@b.example, thief@evil.example',
  'a@b.example;thief@evil.example',
  'Ada <a@b.example>',
  '"a b"@b.example',
  'a@b.example>\r\nDATA',
  'nobody',
  `${'a'.repeat(250)}@b.example`,
])('no mail is sent to %j, which is not a single address', async to => {
  await expect(mailer.send(aMail({ to }))).rejects.toMatchObject({
    name: 'NotSent',
    kind: 'refused',
    message: expect.stringContaining('it is not one e-mail address'),
  });

  expect(receiver.mails).toEqual([]);
});

test.each([
  ['the recipient permanently', { recipient: '550 no such user' }, 'refused'],
  ['the recipient temporarily', { recipient: '450 try later' }, 'unavailable'],
  ['the mail permanently', { mail: '554 looks like spam' }, 'refused'],
  ['the mail temporarily', { mail: '452 no space' }, 'unavailable'],
  ['the sender, whom the operator can change', { sender: '550 not yours' }, 'unavailable'],
])('a server that refuses %s is classified as a refusal or an outage', async (_, behaviour, kind) => {
  receiver.behaviour = behaviour;

  await expect(mailer.send(aMail())).rejects.toMatchObject({ name: 'NotSent', kind });

  receiver.behaviour = {};
  await mailer.send(aMail());
  expect(receiver.mails).toHaveLength(1);
});

test('an unreachable server is an outage, and its error does not contain the password', async () => {
  const smtp = `smtp://user:hush-hush@127.0.0.1:${await freePort()}`;
  const lines: string[] = [];
  const destination = new PassThrough().on('data', chunk => lines.push(String(chunk)));
  const away = smtpMailer({ smtp, from: 'pay@shop.example', clock });

  const failure: unknown = await away.send(aMail()).catch(error => error);
  createLogger({ level: 'info', destination }).error({ err: failure }, 'not sent');

  await away.close();
  expect(failure).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('mail server') });
  expect(lines.join()).toContain('not sent');
  expect(lines.join()).not.toContain('hush-hush');
});

test('a silent server is an outage after the timeout', async () => {
  const mute = createServer();
  await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve));
  const address = mute.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const waiting = smtpMailer({
    smtp: `smtp://127.0.0.1:${port}`,
    from: 'a@b.example',
    clock,
    timeoutMs: 100,
  });

  await expect(waiting.send(aMail())).rejects.toMatchObject({ kind: 'unavailable' });

  await waiting.close();
  mute.close();
});

test('closing ends pooled connections', async () => {
  const other = smtpMailer({ smtp: receiver.url, from: 'a@b.example', clock });
  const before = receiver.connections();
  await other.send(aMail());
  expect(receiver.connections()).toBe(before + 1);

  await other.close();

  await expect.poll(() => receiver.connections()).toBe(before);
});

test('without a mail server a mail becomes a file for its owner only, and the log has its path', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'mails-'));
  const folder = join(parent, 'var', 'mail');
  const lines: string[] = [];
  const destination = new PassThrough().on('data', chunk => lines.push(String(chunk)));
  const log = createLogger({ level: 'info', destination });
  const filing = createMailer({ mail: undefined, folder, clock, log });

  await filing.send(aMail());

  const [name = ''] = await readdir(folder);
  const raw = await readFile(join(folder, name), 'utf8');
  expect(name).toMatch(/^2026-05-04T12-00-00\.000Z-\w+\.eml$/);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect(parsedMail(raw).headers).toContain('To: orders@books.example');
  expect(parsedMail(raw).parts['text/plain']).toContain('Grüße');
  expect(lines.join()).toContain(join(folder, name));
  await rm(parent, { recursive: true });
});
