import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Random } from '../../faults/random.ts';
import { RECEIVER_KINDS, type ReceiverKind } from './receiver-kinds.ts';

/** A request that arrived at a receiver. */
export interface Arrival {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** True when the receiver accepts the request, even if its answer comes later. */
  readonly isTaken: boolean;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Receivers of all kinds behind one address. The second segment of the path names the kind. */
export interface Receivers extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  readonly arrivals: readonly Arrival[];
}

const SLOWEST_MS = 2_000;
/** One chunk of an endless body. */
const CHUNK = Buffer.alloc(16_384, 'x');
const CHUNK_EVERY_MS = 50;

/** Starts receivers on the loopback interface. */
export async function startReceivers(random: Random): Promise<Receivers> {
  const arrivals: Arrival[] = [];
  const attempts = new Map<string, number>();

  const answerOf = (
    path: string,
    eventId: string,
  ): { isTaken: boolean; answer: (to: ServerResponse) => void } => {
    const kind = kindIn(path);
    const key = `${path} ${eventId}`;
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    const isPatient = attempt > failuresOf(eventId);
    const wait = random.between(0, SLOWEST_MS);
    const answers = {
      steady: taken(to => to.writeHead(204).end()),
      slow: taken(to => setTimeout(() => to.writeHead(200).end('late'), wait)),
      endless: taken(goOn),
      flaky: isPatient ? taken(to => to.writeHead(200).end()) : refused(to => to.writeHead(500).end()),
      dropping: isPatient ? taken(to => to.writeHead(201).end()) : refused(to => to.destroy()),
      refusing: refused(to => to.writeHead(500).end('no')),
      cutting: refused(to => to.destroy()),
      redirecting: refused(to => to.writeHead(307, { Location: '/0/canary' }).end()),
      silent: refused(() => {}),
    } satisfies Record<ReceiverKind, unknown>;
    return kind === undefined ? refused(to => to.writeHead(404).end()) : answers[kind];
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => {
      const { url: path = '/', headers } = request;
      const { isTaken, answer } = answerOf(path, String(headers['x-service-event-id']));
      arrivals.push({ path, headers, body: Buffer.concat(chunks), isTaken, receivedAt: Date.now() });
      answer(response);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    arrivals,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Kind of the receiver at `/<shop>/<kind>/…`; undefined when there is none. */
export function kindIn(path: string): ReceiverKind | undefined {
  const [, , name] = path.split('/');
  return RECEIVER_KINDS.find(kind => kind === name);
}

/** Failures of a `flaky` or `dropping` receiver for an event: mostly none, and too few to disable its webhook. */
function failuresOf(eventId: string): number {
  const drawn = (eventId.codePointAt(eventId.length - 1) ?? 0) % 8;
  return drawn === 0 ? 2 : drawn === 1 ? 1 : 0;
}

function taken(answer: (to: ServerResponse) => void) {
  return { isTaken: true, answer };
}

function refused(answer: (to: ServerResponse) => void) {
  return { isTaken: false, answer };
}

function goOn(to: ServerResponse): void {
  to.writeHead(200);
  const going = setInterval(() => to.write(CHUNK), CHUNK_EVERY_MS);
  to.once('close', () => clearInterval(going));
}
