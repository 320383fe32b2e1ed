import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compareWaits } from '../../scripts/fleet/hostile/settlement-waits.ts';
import { list, record } from '../lab/json.ts';

const PROGRAM = fileURLToPath(new URL('./canary-program.ts', import.meta.url));

test('in a network of its own nothing is left unseen: requests to any address, look-ups, refused connections', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], { timeout: 60_000 });

  const { 'a name': ofName, ...seen } = record(JSON.parse(stdout));
  expect(new Set(list(ofName))).toEqual(
    new Set(['a look-up of canary.example', 'a connection to 93.184.215.14:80 "GET /name HTTP/1.1"']),
  );
  expect(seen).toEqual({
    'a listener of the run': [],
    'a port of the canaries': [expect.stringMatching(/^a connection to 127\.0\.0\.1:\d+ "GET \/own HTTP/)],
    'a private address': ['a connection to 169.254.169.254:80 "GET /private HTTP/1.1"'],
    'a public address': ['a connection to 198.51.100.7:80 "GET /public HTTP/1.1"'],
    'a port without a listener': ['1 connections or datagrams without a listener'],
    'a datagram without a receiver': ['1 connections or datagrams without a listener'],
  });
});

test.for([
  ['twice as long', [2_000, 4_000, 8_000], []],
  ['longer in a tenth of the cases', [2_000, 4_000, 8_001], ['the ninth of ten wait']],
  ['longer in half of the cases', [2_000, 4_001, 5_000], ['the median wait']],
] as const)('settlement that takes %s under attack is judged', ([, underAttack, wrong]) => {
  const violations: string[] = [];

  compareWaits({ without: [1_000, 2_000, 4_000], underAttack }, sentence => violations.push(sentence));

  expect(violations).toEqual(wrong.map(words => expect.stringContaining(words)));
});

test('settlement of nothing is an error, not a success', () => {
  const never = () => compareWaits({ without: undefined, underAttack: [] }, () => undefined);

  expect(never).toThrow('no payment was settled');
});
