import { type Figure, figureOf, median } from '../figure.ts';
import type { ServerProcess } from '../server-process.ts';

const WARM_ROUNDS = 3;
const ROUNDS = 9;
const MAX_MS = 20;

/** A request that is not answered from a cache. */
interface StallRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One kind of request. Its rounds differ when a repeated request would be answered from a cache. */
export type RequestKind = (round: number) => StallRequest;

/** One figure with the longest stall for each kind. */
export async function stallFigures(
  server: ServerProcess,
  kinds: Readonly<Record<string, RequestKind>>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, kind] of Object.entries(kinds)) {
    const { stalls, cpu, bytes } = await stallsOf(server, kind);
    const note = `${Math.round(bytes / 1000)} kB, ${median(cpu).toFixed(1)} ms CPU of the main thread`;
    figures.push(figureOf({ name: nameOf(name), rounds: stalls, wanted: { atMost: MAX_MS }, note }));
  }
  return figures;
}

/** One figure for many kinds: the worst of them. The next ones are in its note. */
export async function worstStall(
  server: ServerProcess,
  { name, kinds }: { name: string; kinds: Readonly<Record<string, RequestKind>> },
): Promise<Figure> {
  const all: { id: string; stalls: readonly number[] }[] = [];
  for (const [id, kind] of Object.entries(kinds))
    all.push({ id, stalls: (await stallsOf(server, kind)).stalls });
  const worst = all.toSorted((a, b) => median(b.stalls) - median(a.stalls));
  const note = worst.slice(0, 4).map(({ id, stalls }) => `${id} ${median(stalls).toFixed(1)}`);
  return figureOf({
    name: nameOf(`${name}, the worst of ${all.length}`),
    rounds: worst[0]?.stalls ?? [],
    wanted: { atMost: MAX_MS },
    note: note.join(', '),
  });
}

function nameOf(kind: string): string {
  return `longest stall of the event loop, ms: ${kind}`;
}

/** Measures the stalls of each request. @throws Error for an answer that is not a success */
async function stallsOf(server: ServerProcess, kind: RequestKind) {
  const stalls: number[] = [];
  const cpu: number[] = [];
  let bytes = 0;
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    const { path, headers = {}, ...others } = kind(round);
    await server.eventLoop();
    const answer = await fetch(server.url + path, { ...others, headers, redirect: 'manual' });
    const body = await answer.bytes();
    const { longestMs, cpuMs } = await server.eventLoop();
    if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${new TextDecoder().decode(body)}`);
    if (round < WARM_ROUNDS) continue;
    stalls.push(longestMs);
    cpu.push(cpuMs);
    bytes = body.length;
  }
  return { stalls, cpu, bytes };
}
