import { type Figure, median } from './figure.ts';
import { load, startServer } from './server-process.ts';

const ROUNDS = 5;
const SECONDS = 2;

/** Rate of cached hits of the whole service as a share of a bare Koa app's that sends as many bytes. */
export async function benchCachedHits(): Promise<Figure[]> {
  await using service = await startServer('service');
  const page = await bytesOf(`${service.url}/explorer/transactions`);
  const single = `/explorer/transactions/${page.hash}`;
  const small = await bytesOf(service.url + single);
  return [
    await compare(service, single, small.bytes, 0.85),
    await compare(service, '/explorer/transactions', page.bytes, 0.95),
  ];
}

async function compare(
  service: Awaited<ReturnType<typeof startServer>>,
  path: string,
  bytes: number,
  target: number,
): Promise<Figure> {
  await using bare = await startServer('bare', String(bytes));
  const ratios: number[] = [];
  const ours: number[] = [];
  await load(service, [path], 1);
  await load(bare, ['/'], 1);
  for (let round = 0; round < ROUNDS; round++) {
    const hit = await load(service, [path], SECONDS);
    const plain = await load(bare, ['/'], SECONDS);
    ours.push(hit.requestsPerSecond);
    ratios.push(hit.requestsPerSecond / plain.requestsPerSecond);
  }
  return {
    name: `cached hit, ${(bytes / 1000).toFixed(1)} kB, rate over bare Koa`,
    value: median(ratios),
    target: `≥ ${target}`,
    ok: median(ratios) >= target,
    note: `${Math.round(median(ours))} requests/s`,
  };
}

async function bytesOf(url: string): Promise<{ bytes: number; hash: string }> {
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const text = await answer.text();
  const { items } = JSON.parse(text);
  return { bytes: Buffer.byteLength(text), hash: String(items?.[20]?.hash ?? '') };
}
