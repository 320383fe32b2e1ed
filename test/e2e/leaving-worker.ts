import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { leaveParent } from '../../src/program/workers/parent-channel.ts';
import { PATIENCE_MS } from '../lab/until.ts';

/**
 * Program with two workers behind one port. One of them leaves while the parent passes it a connection. Prints the
 * statuses of two requests, one for each worker.
 */
const BUSY_MS = 500;

if (cluster.isPrimary) await ask();
else await serve();

async function ask(): Promise<void> {
  const workers = [cluster.fork(), cluster.fork()] as const;
  const [port] = await Promise.all(workers.map(listeningPort));
  const [leaving, staying] = workers;
  leaving.send('leave');
  await once(leaving, 'message');
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const statuses = [1, 2].map(async () => (await fetch(`http://127.0.0.1:${port}`, { signal })).status);
  process.stdout.write(JSON.stringify(await Promise.all(statuses)));
  staying.kill();
}

function listeningPort(worker: Worker): Promise<number> {
  return new Promise(resolve => worker.once('listening', ({ port }) => resolve(port)));
}

async function serve(): Promise<void> {
  const server = createServer((_, response) => void response.end());
  server.listen(0, '127.0.0.1');
  process.once('message', () => {
    process.send?.('busy');
    const until = performance.now() + BUSY_MS;
    while (performance.now() < until);
    server.close();
    leaveParent();
  });
}
