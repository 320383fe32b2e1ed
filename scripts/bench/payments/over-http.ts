import type { Request } from 'autocannon';
import { type Figure, figureOf, median } from '../figure.ts';
import { type Load, loadWith, type ServerProcess, startServer } from '../server-process.ts';
import { aLink, CREATION } from './link.ts';
import { makeShop, NO_NODE, type Shop } from './shop.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;

/** A request, and the server to send it to. */
interface Side {
  readonly server: ServerProcess;
  readonly request: Request;
}

/**
 * Rates of creating and of getting a link, over those of a bare Koa app that runs the same statements in its own file.
 * Unlike the service, the bare app does not log.
 */
export async function creatingAndGetting(): Promise<Figure[]> {
  await using ours = await oneLinkShop();
  await using theirs = await oneLinkShop();
  await using service = await startServer('payments', ours.file, NO_NODE, CREATION.token_address);
  await using bare = await startServer('bare-payments', theirs.file, theirs.owner.organizationId);
  const links = '/api/v1/payment-links';
  const headers = { ...ours.headers, 'Content-Type': 'application/json' };
  const creation = { method: 'POST', headers, body: JSON.stringify(CREATION) } as const;
  return [
    await compare(
      'POST /payment-links, 16 connections, rate over bare Koa with the same transaction',
      [
        { server: service, request: { ...creation, path: links } },
        { server: bare, request: { ...creation, path: '/' } },
      ],
      0.5,
    ),
    await compare(
      'authenticated GET of a link, rate over bare Koa with the same select',
      [
        { server: service, request: { path: `${links}/${ours.linkIds[0]}`, headers } },
        { server: bare, request: { path: `/${theirs.linkIds[0]}`, headers } },
      ],
      0.6,
    ),
  ];
}

function oneLinkShop(): Promise<Shop> {
  return makeShop(owner => [aLink(owner, Date.now())]);
}

/** Rate of the first side over that of the second. */
async function compare(name: string, sides: readonly [Side, Side], atLeast: number): Promise<Figure> {
  const [ours, bare] = sides;
  const loads: { ours: Load; bare: Load }[] = [];
  for (const side of sides) await loaded(side, 1);
  for (let round = 0; round < ROUNDS; round++) {
    loads.push({ ours: await loaded(ours, SECONDS), bare: await loaded(bare, SECONDS) });
  }
  const of = (read: (loads: { ours: Load; bare: Load }) => number) => median(loads.map(read));
  const rates = [of(round => round.ours.requestsPerSecond), of(round => round.bare.requestsPerSecond)];
  const cpu = [of(round => round.ours.cpuMicrosPerRequest), of(round => round.bare.cpuMicrosPerRequest)];
  return figureOf({
    name,
    rounds: loads.map(round => round.ours.requestsPerSecond / round.bare.requestsPerSecond),
    wanted: { atLeast },
    note: `${rates.map(Math.round).join(' of ')} requests/s, ${cpu.map(Math.round).join(' beside ')} µs CPU each`,
  });
}

function loaded({ server, request }: Side, seconds: number): Promise<Load> {
  return loadWith(server, { requests: [request], seconds, connections: CONNECTIONS });
}
