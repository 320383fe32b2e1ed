import type { Random } from '../faults/random.ts';
import { type FuzzRequest, serialized } from './request.ts';

/** Header lines that HTTP clients do not send. */
const HEAD_LINES: readonly string[] = [
  'Host: other.invalid',
  'Host:',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: nonsense',
  'Expect: 100-continue',
  'Expect: nonsense',
  'Expect: 100-continue, nonsense',
  'Expect:',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Connection: upgrade, http2-settings\r\nUpgrade: h2c',
  'Authorization: Bearer a\r\nAuthorization: Bearer b',
  'X-Folded: a\r\n b',
  'No-Colon',
  ': no name',
  'Bad Name: a',
  'X-Control: a\u0000b',
  'X-Eight-Bit: \u00ff\u00fe',
  `X-Long: ${'a'.repeat(20_000)}`,
  `X-Long: ${'a'.repeat(70_000)}`,
  'X-Many: a\r\n'.repeat(2_500).trim(),
];

/** Request targets that are not in origin form, or that a client would escape. */
const TARGETS: readonly ((target: string) => string)[] = [
  target => `http://fuzz.invalid${target}`,
  target => `https://fuzz.invalid:8443${target}`,
  target => `HTTP://31337.fuzz.invalid:${target}`,
  target => `http://[::1]:80${target}`,
  target => `http://user:password@fuzz.invalid${target}`,
  target => `http://fuzz.invalid:99999${target}`,
  target => `http://fuzz_${'a'.repeat(300)}.invalid${target}`,
  target => `http://%66uzz.invalid${target}`,
  target => `http://${target}`,
  target => `ftp://fuzz.invalid${target}`,
  target => `http:${target}`,
  target => `http://fuzz.invalid${target.slice(1)}`,
  () => 'http://fuzz.invalid',
  () => 'http://fuzz.invalid?chain_id=1',
  target => `//fuzz.invalid${target}`,
  target => target.slice(1),
  target => `${target}#fragment`,
  target => `${target}\u00e9`,
  target => `${target} HTTP/1.1 extra`,
  target => `${target}\\..\\..`,
  target => `/${'a'.repeat(20_000)}${target}`,
  () => '*',
  () => 'fuzz.invalid:443',
];
const METHODS = ['CONNECT', 'TRACE', 'QUERY', 'PROPFIND', 'get', 'G ET', '', 'A'.repeat(300)];
const VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.9', 'http/1.1', 'HTTP/1.1x', ''];
const CHUNKS = ['5\r\nab', 'zz\r\n', '1;a=b\r\n{\r\n0\r\n\r\n', 'ffffffffffffffff\r\n', '0\r\nX: y\r\n\r\n'];
const NOISES = ['\r', '\n', '\r\n\r\n', '\u0000', ' ', ':', '\u00ff', '\u0016\u0003\u0001\u0002'];

type ByteMutation = (random: Random, bytes: Buffer) => Buffer;

const BYTE_MUTATIONS: readonly ByteMutation[] = [
  (random, bytes) => bytes.subarray(0, random.below(bytes.length)),
  (random, bytes) => bytes.subarray(random.below(bytes.length)),
  (random, bytes) => spliced(random, bytes, Buffer.from(random.pick(NOISES), 'latin1')),
  (random, bytes) => spliced(random, bytes, Buffer.from([random.below(256)])),
  (random, bytes) => spliced(random, bytes, bytes.subarray(random.below(bytes.length))),
  (_random, bytes) => Buffer.concat([bytes, bytes]),
  (random, bytes) =>
    Buffer.from(bytes.map(byte => (random.chance(0.01) ? byte ^ (1 << random.below(8)) : byte))),
  (_random, bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
];

/** Turns the request into bytes that no HTTP client sends: other framing, other targets, or random changes. */
export function wireMutation(random: Random, request: FuzzRequest): FuzzRequest {
  return { ...request, bytes: wireBytes(random, request), isAimed: false };
}

function wireBytes(random: Random, request: FuzzRequest): Buffer {
  const plain = serialized(request);
  const head = (change: (line: string, rest: string) => string) => {
    const text = plain.toString('latin1');
    const end = text.indexOf('\r\n');
    return Buffer.from(change(text.slice(0, end), text.slice(end)), 'latin1');
  };
  switch (random.below(6)) {
    case 0:
      return head((line, rest) => `${line}\r\n${random.pick(HEAD_LINES)}${rest}`);
    case 1:
      return serialized({ ...request, target: random.pick(TARGETS)(request.target) });
    case 2:
      return serialized({ ...request, method: random.pick(METHODS) });
    case 3:
      return head((line, rest) => `${line.replace(/HTTP\/1\.1$/, random.pick(VERSIONS))}${rest}`);
    case 4:
      return head((line, rest) => `${line}\r\nTransfer-Encoding: chunked${rest}${random.pick(CHUNKS)}`);
    default:
      return random.pick(BYTE_MUTATIONS)(random, plain);
  }
}

/** Inserts other bytes at a random place; in half of the cases they overwrite one byte. */
function spliced(random: Random, bytes: Buffer, others: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), others, bytes.subarray(random.chance(0.5) ? at : at + 1)]);
}
