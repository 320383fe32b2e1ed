import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { loopbackPort } from '../../../test/lab/loopback-server.ts';

/** A web server that the program must never reach. */
export interface Canary {
  /** Template of its address, as resolvers of names give it (EIP-3668). */
  readonly url: string;
  /** Connections so far, in words. */
  readonly contacts: readonly string[];
}

/** Listeners on all addresses, which the program must never reach. */
export interface Canaries {
  /** Templates of addresses on this machine, in a private network and on the internet. */
  readonly urls: readonly string[];
  /** Begins to count connections and datagrams that find no listener. */
  arm(): Promise<void>;
  /** Contacts so far, and the number of connections and datagrams that found no listener since `arm`. */
  seen(): Promise<readonly string[]>;
}

const LOOPBACK = '127.0.0.1';
const ANY = '0.0.0.0';
const WEB_PORTS = [80, 443];
const DNS_PORT = 53;
/** Public, so that no rule about private networks hides a request. */
const PUBLIC_ADDRESS = [93, 184, 215, 14];
/** Answer of a gateway (EIP-3668), after which the resolver asks again. */
const ANSWER = JSON.stringify({ data: `0x${'00'.repeat(32)}` });
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${ANSWER.length}\r\n`;
const SHOWN = 80;

/** Listens on a free port of the loopback interface. */
export async function startCanary(stack: AsyncDisposableStack): Promise<Canary> {
  const contacts: string[] = [];
  const port = await loopbackPort(canary(contacts, stack), LOOPBACK);
  return { url: `http://${LOOPBACK}:${port}/{sender}/{data}.json`, contacts };
}

/**
 * Listens on every address of a network in which all addresses lead to this machine (`own-network.ts`). Every name
 * resolves to such an address.
 */
export async function startCanaries(stack: AsyncDisposableStack): Promise<Canaries> {
  const own = await startCanary(stack);
  const contacts: string[] = [];
  let before = 0;
  for (const port of WEB_PORTS) {
    const server = canary(contacts, stack);
    server.listen(port, ANY);
    await once(server, 'listening');
  }
  const names = createSocket('udp4', (query, { port, address }) => {
    contacts.push(`a look-up of ${nameIn(query)}`);
    names.send(answerTo(query), port, address);
  });
  names.bind(DNS_PORT, ANY);
  await once(names, 'listening');
  stack.defer(async () => void names.close());

  return {
    urls: [
      own.url,
      'http://169.254.169.254/latest/meta-data?{data}',
      `https://${PUBLIC_ADDRESS.join('.')}/{sender}/{data}.json`,
      'https://canary.example/{data}',
    ],
    async arm() {
      before = await unanswered();
    },
    async seen() {
      const lost = (await unanswered()) - before;
      const strays = lost === 0 ? [] : [`${lost} connections or datagrams without a listener`];
      return [...own.contacts, ...contacts, ...strays];
    },
  };
}

/** A web server that records every connection with its first line. */
function canary(contacts: string[], stack: AsyncDisposableStack) {
  const server = createServer(socket => {
    const place = contacts.push(`a connection to ${socket.localAddress}:${socket.localPort}`) - 1;
    socket.on('error', () => undefined);
    socket.once('data', data => {
      const [line = ''] = data.toString('latin1').split('\r\n');
      contacts[place] += ` ${JSON.stringify(line.slice(0, SHOWN))}`;
      socket.end(`${HEAD}Connection: close\r\n\r\n${ANSWER}`);
    });
  });
  stack.defer(async () => void server.close());
  return server;
}

const DNS_HEAD = 12;
/** Flags of a response, and the counts of its questions and answers. Source: RFC 1035, 4.1.1. */
const DNS_COUNTS = [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
/** A pointer to the name of the question, type A, class IN, 60 seconds, four bytes. Source: RFC 1035, 4.1.3. */
const DNS_RECORD = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4];

function answerTo(query: Buffer): Buffer {
  const question = query.subarray(DNS_HEAD, questionEnd(query));
  const id = query.subarray(0, 2);
  return Buffer.concat([
    id,
    Buffer.from(DNS_COUNTS),
    question,
    Buffer.from([...DNS_RECORD, ...PUBLIC_ADDRESS]),
  ]);
}

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = DNS_HEAD; (query[at] ?? 0) > 0; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.');
}

/** End of the first question: its name, and two bytes each for type and class. */
function questionEnd(query: Buffer): number {
  return query.indexOf(0, DNS_HEAD) + 5;
}

/** Connections that were refused and datagrams that found no listener, in the network of this process. */
async function unanswered(): Promise<number> {
  const lines = (await readFile('/proc/net/snmp', 'utf8')).split('\n');
  return counter(lines, 'Tcp', 'AttemptFails') + counter(lines, 'Udp', 'NoPorts');
}

function counter(lines: readonly string[], protocol: string, name: string): number {
  const [names = '', values = ''] = lines.filter(line => line.startsWith(`${protocol}:`));
  const value = values.split(' ')[names.split(' ').indexOf(name)];
  if (value === undefined) throw new Error(`the system does not count ${protocol} ${name}`);
  return Number(value);
}
