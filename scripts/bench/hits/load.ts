import { connect } from 'node:net';

/** One request that is sent repeatedly, and the expected status. */
export interface RepeatedRequest {
  /** Origin of the server. */
  readonly url: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

export interface MeasuredLoad {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 32;
const HEAD_END = '\r\n\r\n';

/**
 * Sends a request repeatedly over 32 connections. Each connection sends the next one when an answer is complete. Hardly
 * reads the answers, so that the server is the bottleneck. With a general load generator, the client would be.
 * @throws Error when an answer has another status
 */
export async function load(request: RepeatedRequest, seconds: number): Promise<MeasuredLoad> {
  const until = performance.now() + seconds * 1000;
  const startedAt = performance.now();
  const perConnection = await Promise.all(Array.from({ length: CONNECTIONS }, () => repeat(request, until)));
  const elapsedS = (performance.now() - startedAt) / 1000;
  const latencies = perConnection.flat().sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / elapsedS,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

/** Latencies of one connection's requests, in milliseconds. */
function repeat({ url, path, headers = {}, status }: RepeatedRequest, until: number): Promise<number[]> {
  const { hostname, port, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const begin = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    const latencies: number[] = [];
    let sentAt = 0;
    /** Bytes of the current answer that have not arrived; zero between answers. */
    let missing = 0;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, send);
    socket.on('error', reject);
    socket.on('close', () => resolve(latencies));
    socket.on('data', chunk => {
      if (missing === 0) missing = answerLength(chunk);
      missing -= chunk.length;
      if (missing > 0) return;
      const now = performance.now();
      latencies.push(now - sentAt);
      if (now < until) send();
      else socket.end();
    });

    function send(): void {
      sentAt = performance.now();
      socket.write(bytes);
    }

    function answerLength(chunk: Buffer): number {
      const headEnd = chunk.indexOf(HEAD_END);
      const head = chunk.toString('latin1', 0, headEnd);
      if (!head.startsWith(begin)) socket.destroy(new Error(`${path}: ${head.slice(0, 60)}`));
      const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
      return headEnd + HEAD_END.length + (status === 304 ? 0 : Number(length));
    }
  });
}
