import { expect, test } from 'vitest';
import { boundedLines, createLogger, cutAddresses } from '../../src/lib/logger.ts';
import { manualClock } from '../support/manual-clock.ts';

function written(format: 'json' | 'text', level = 'info') {
  const lines: string[] = [];
  const log = createLogger({ level, format, destination: { write: line => void lines.push(line) } });
  return { log, lines };
}

test('an entry is one JSON object on one line', () => {
  const { log, lines } = written('json');

  log.info({ requestId: 'r1' }, 'hello\nworld');

  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/\}\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    requestId: 'r1',
    msg: 'hello\nworld',
  });
});

test('as text an entry is a readable line, with the stack of an error below', () => {
  const { log, lines } = written('text');

  log.child({ requestId: 'r1' }).warn({ ms: 7, note: 'two words', err: new Error('no') }, 'slow');

  expect(lines[0]).toMatch(/^\S+Z WARN {2}slow requestId=r1 ms=7 note="two words"\n {4}Error: no\n {4,}at /);
});

test('entries below the level are not written', () => {
  const { log, lines } = written('text', 'error');

  log.warn('not this');

  expect(lines).toEqual([]);
});

test('addresses in errors are cut to their host, because the rest may contain keys', () => {
  const { log, lines } = written('json');
  const cause = new Error('no answer from https://user:pass@rpc.example:8545/v3/SECRET?apikey=SECRET');

  log.error(
    { err: Object.assign(new Error('failed', { cause }), { url: 'http://node/SECRET', amount: 1n }) },
    'x',
  );

  expect(lines[0]).not.toContain('SECRET');
  expect(lines[0]).not.toContain('pass');
  expect(lines[0]).toContain('https://rpc.example:8545');
  expect(lines[0]).toContain('http://node');
});

test.each([
  ['an @', 'redis://user:p@SECRET@host.example:6379/0', 'redis://host.example:6379'],
  ['a double quote', 'postgres://u:p"SECRET@host.example/db', 'postgres://host.example'],
  ['a single quote', "rediss://u:p'SECRET@host.example", 'rediss://host.example'],
  ['a backslash', 'smtp://u:p\\SECRET@host.example:25', 'smtp://host.example:25'],
])('an address is cut to its host even if its password contains %s', (_, address, shown) => {
  const { log, lines } = written('json');

  log.error({ err: Object.assign(new Error(`no answer from ${address} (refused)`), { address }) }, 'x');

  const { err } = JSON.parse(lines[0] ?? '');
  expect(lines[0]).not.toContain('SECRET');
  expect(err).toMatchObject({ message: `no answer from ${shown} (refused)`, address: shown });
  expect(cutAddresses(`"${address}"`)).not.toContain('SECRET');
});

test('an @ after the host is not part of it', () => {
  const text = 'asked https://host.example/SECRET@x, http://node?to=a@SECRET for me@mail.example';

  expect(cutAddresses(text)).toBe('asked https://host.example http://node for me@mail.example');
});

test('more than 500 lines per second with one message are left out and counted in the next one', () => {
  const clock = manualClock();
  const lines: { id?: number; more?: number; msg: string }[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => lines.push(JSON.parse(line)) } });
  const line = boundedLines({ clock, log });

  for (let id = 1; id <= 700; id += 1) line({ id }, 'payment seen');
  line({ id: 701 }, 'payment settled');
  const inFirstSecond = lines.splice(0);
  clock.advance(1_000);
  line({ id: 702 }, 'payment seen');
  line({ id: 703 }, 'payment seen');

  expect(inFirstSecond.filter(({ msg }) => msg === 'payment seen')).toHaveLength(500);
  expect(inFirstSecond.filter(({ more }) => more !== undefined)).toEqual([]);
  expect(inFirstSecond.at(-1)).toMatchObject({ id: 701, msg: 'payment settled' });
  expect(lines).toMatchObject([{ id: 702, more: 200 }, { id: 703 }]);
  expect(lines[1]).not.toHaveProperty('more');
});
