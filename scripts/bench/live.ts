import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { type Figure, figureOf } from './figure.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const STREAMS = 2_000;
const ROUNDS = 5;
const SECONDS = 4;
/** Connections of the healthy client, which asks for a list that is new with every block. */
const CONNECTIONS = 8;
const PATH = '/explorer/main-page/blocks';
/** Streams that are opened at the same time. */
const AT_ONCE = 100;

/** Cost of 2,000 open streams on a chain with a block per second, each with an address of its own. */
export async function benchLive(): Promise<Figure[]> {
  await using server = await startServer('live');
  const without: Look[] = [];
  const having: Look[] = [];
  await look(server); // warms it up
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await look(server));
    const streams = await openStreams(server.url, STREAMS);
    having.push(await look(server));
    const events = streams.events();
    if (events < STREAMS * SECONDS) throw new Error(`only ${events} events on ${STREAMS} streams`);
    await streams.close();
  }
  const pairs = without.map((base, round) => ({ base, other: having[round] ?? base }));
  return [
    figureOf({
      name: `p99 of a client beside ${STREAMS} streams, over none`,
      rounds: pairs.map(({ base, other }) => other.p99 / base.p99),
      wanted: { atMost: 2 },
      note: `${having.map(({ p99 }) => p99).join(', ')} ms, without ${without.map(({ p99 }) => p99).join(', ')} ms`,
    }),
    figureOf({
      name: 'CPU per stream and second beyond an idle service, µs',
      rounds: pairs.map(({ base, other }) => (other.idleMicros - base.idleMicros) / STREAMS),
    }),
    figureOf({
      name: 'memory per stream, kB',
      rounds: pairs.map(({ base, other }) => (other.bytes - base.bytes) / STREAMS / 1_000),
    }),
  ];
}

interface Look {
  /** In milliseconds. */
  readonly p99: number;
  /** CPU time per second without requests, in microseconds. */
  readonly idleMicros: number;
  readonly bytes: number;
}

async function look(server: ServerProcess): Promise<Look> {
  const bytes = await server.memoryBytes();
  const before = await server.cpuMicros();
  await delay(SECONDS * 1_000);
  const idleMicros = ((await server.cpuMicros()) - before) / SECONDS;
  const { latency, errors, non2xx } = await autocannon({
    url: server.url + PATH,
    connections: CONNECTIONS,
    duration: SECONDS,
    overallRate: 400,
  });
  if (errors > 0 || non2xx > 0) throw new Error(`${PATH}: ${non2xx} refused, ${errors} failed`);
  return { p99: latency.p99, idleMicros, bytes };
}

async function openStreams(url: string, count: number) {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  let events = 0;
  async function open(index: number): Promise<void> {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const address = `0x${index.toString(16).padStart(40, '0')}`;
    socket.write(`GET /explorer/live?watch=31337:address:${address} HTTP/1.1\r\nHost: bench\r\n\r\n`);
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('event: head')) events += 1;
    });
    await once(socket, 'data');
  }
  for (let first = 0; first < count; first += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => open(first + index)));
  await delay(1_000);
  return {
    events: () => events,
    async close() {
      for (const socket of sockets) socket.destroy();
      await delay(1_000);
    },
  };
}
