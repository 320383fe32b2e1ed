import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { startCanaries } from '../../scripts/fleet/hostile/canaries.ts';
import { isInOwnNetwork, runInOwnNetwork } from '../../scripts/fleet/hostile/own-network.ts';
import { freePort, loopbackPort } from '../lab/loopback-server.ts';

// Visits addresses in a network of its own, and prints what the canaries have seen of each visit, as JSON.

if (!isInOwnNetwork()) process.exit(await runInOwnNetwork());

await using stack = new AsyncDisposableStack();
const canaries = await startCanaries(stack);
const [ownUrl = ''] = canaries.urls;
const neighbour = createServer(socket => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
const neighbourPort = await loopbackPort(neighbour);
stack.defer(async () => void neighbour.close());

const visits = {
  'a listener of the run': `http://127.0.0.1:${neighbourPort}/`,
  'a port of the canaries': ownUrl.replace(/\{.*/, 'own'),
  'a private address': 'http://169.254.169.254/private',
  'a public address': 'http://198.51.100.7/public',
  'a name': 'http://canary.example/name',
  'a port without a listener': `http://203.0.113.9:${await freePort()}/`,
};
const seen: Record<string, readonly string[]> = {};
for (const [name, url] of Object.entries(visits)) {
  await canaries.arm();
  const before = (await canaries.seen()).length;
  await visit(url);
  seen[name] = (await canaries.seen()).slice(before);
}
await canaries.arm();
const socket = createSocket('udp4');
socket.send('x', await freePort(), '203.0.113.9');
await once(socket, 'listening');
socket.close();
seen['a datagram without a receiver'] = (await canaries.seen()).slice(-1);
console.log(JSON.stringify(seen));

/** Sends a request, and resolves when it has an answer or has failed. */
async function visit(url: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const asking = request(url, answer => {
    answer.resume();
    answer.once('close', resolve);
  });
  asking.once('error', () => resolve());
  asking.end();
  await promise;
}
