import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { loopbackPort } from '../../lab/loopback-server.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  CHAIN_ID,
  CID,
  NOTHING,
  PNG,
  pictureAt,
  pictureService,
  png,
  refusal,
  refused,
  TOKEN,
} from './picture-service.ts';

describe('a picture host', () => {
  const FAILED = refused(502, 'The picture could not be fetched from its host');

  test('that fails, hangs, trickles or breaks off gives no picture', async () => {
    const behaviours = {
      1: { status: 500, bytes: PNG },
      2: 'silence',
      3: { drip: PNG.toString('latin1'), everyMs: 100 },
      4: { cut: 'within the body' },
      5: { status: 404, bytes: PNG },
    } as const;
    await using service = await pictureService(
      (id, host) => ({ image_url: `${host}/${id}` }),
      ({ url }) => Object.entries(behaviours).find(([id]) => url === `/${id}`)?.[1] ?? NOTHING(),
      {
        linkedHosts: {
          allowHttp: true,
          allowedNetworks: ['127.0.0.1'],
          lookup: async () => [{ address: '127.0.0.1', family: 4 }],
          timeoutMs: 500,
        },
      },
    );

    const refusals = await Promise.all(
      Object.keys(behaviours).map(async id => refusal(await service.picture(id))),
    );

    expect(refusals).toEqual(Array(5).fill(FAILED));
  });

  test('that sends six megabytes, or an endless body, is cut off', async () => {
    const long = Buffer.concat([PNG, Buffer.alloc(6_000_000)]);
    await using service = await pictureService(
      (id, host) => ({ image_url: `${host}/${id}` }),
      ({ url }) => (url === '/1' ? { bytes: long, type: 'image/png' } : { endless: 'gzip' }),
    );

    expect(await refusal(await service.picture(1))).toEqual(FAILED);
    expect(await refusal(await service.picture(2))).toEqual(FAILED);
    expect(service.host.bytesSent()).toBeLessThan(long.length + 2_000_000);
  });

  test('that sends less than five megabytes is read to the end', async () => {
    const long = Buffer.concat([PNG, Buffer.alloc(4_900_000)]);
    await using service = await pictureService(pictureAt('/1'), () => ({ bytes: long, type: 'image/png' }));

    const response = await service.picture(1);

    expect((await response.arrayBuffer()).byteLength).toBe(long.length);
  });

  test.each([
    ['by address', (port: number) => `http://127.0.0.2:${port}/1.png`],
    ['by name', (port: number) => `http://private.test:${port}/1.png`],
  ])('on a private network is not contacted, named %s', async (_, urlOf) => {
    await using hidden = await hiddenHost();
    await using service = await pictureService(
      () => ({ image_url: urlOf(hidden.port) }),
      () => png(),
    );

    expect(await refusal(await service.picture(1))).toEqual(FAILED);
    expect(hidden.connections()).toBe(0);
  });

  test.each([
    ['by address', (port: number) => `http://127.0.0.2:${port}/1.png`],
    ['by name', (port: number) => `http://private.test:${port}/1.png`],
  ])('that redirects to a private network gives no picture, named %s', async (_, urlOf) => {
    await using hidden = await hiddenHost();
    await using service = await pictureService(pictureAt('/1.png'), () => ({
      status: 302,
      text: '',
      headers: { location: urlOf(hidden.port) },
    }));

    expect(await refusal(await service.picture(1))).toEqual(FAILED);
    expect(service.host.requests).toHaveLength(1);
    expect(hidden.connections()).toBe(0);
  });

  test('that redirects to another public host is followed, at most three times', async () => {
    await using service = await pictureService(
      (id, host) => ({ image_url: `${host}/${id}` }),
      ({ url, headers }) => {
        const left = Number(url.slice(1));
        const [, port] = String(headers.host).split(':');
        return left === 0
          ? png()
          : { status: 302, text: '', headers: { location: `http://hop${left}.test:${port}/${left - 1}` } };
      },
    );

    expect((await service.picture(3)).status).toBe(200);
    expect(await refusal(await service.picture(4))).toEqual(FAILED);
  });

  test('of the gateway is not left for another host', async () => {
    await using hidden = await hiddenHost();
    await using service = await pictureService(
      () => ({ image_url: `ipfs://${CID}` }),
      () => ({ status: 302, text: '', headers: { location: `http://127.0.0.2:${hidden.port}/` } }),
    );

    expect(await refusal(await service.picture(1))).toEqual(FAILED);
    expect(hidden.connections()).toBe(0);
  });

  test.each([
    ['a neighbour of its folder', '/secret/1.png'],
    ['a path out of its folder', `/ipfs/${CID}/../../secret/1.png`],
    ['an encoded path out of its folder', `/ipfs/${CID}/..%2f..%2fsecret/1.png`],
  ])('of the gateway is not followed to %s', async (_, location) => {
    await using service = await pictureService(
      () => ({ image_url: `ipfs://${CID}` }),
      ({ url }) => (url === `/ipfs/${CID}` ? { status: 302, text: '', headers: { location } } : png()),
    );

    expect(await refusal(await service.picture(1))).toEqual(FAILED);
    expect(service.host.requests).toHaveLength(1);
  });

  test('of the gateway is followed within its folder', async () => {
    await using service = await pictureService(
      () => ({ image_url: `ipfs://${CID}` }),
      ({ url }) =>
        url === `/ipfs/${CID}` ? { status: 301, text: '', headers: { location: `/ipfs/${CID}/` } } : png(),
    );

    expect((await service.picture(1)).status).toBe(200);
  });
});

describe('requests', () => {
  test('share one fetch when a hundred arrive at once', async () => {
    const release = Promise.withResolvers<void>();
    await using service = await pictureService(pictureAt('/1.png'), async () => {
      await release.promise;
      return png();
    });

    const responses = Array.from({ length: 100 }, () => service.picture(1));
    await expect.poll(() => service.host.requests.length).toBe(1);
    release.resolve();

    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(statuses).toEqual(Array(100).fill(200));
    expect(service.host.requests).toHaveLength(1);
  });

  test('that are cancelled while queued cause no fetch', async () => {
    const release = Promise.withResolvers<void>();
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
    await using service = await pictureService(
      (id, host) => ({ image_url: `${host}/${id}` }),
      async () => {
        await release.promise;
        return png();
      },
      { log },
    );
    const running = [service.picture(1), service.picture(2)];
    await expect.poll(() => service.host.requests.length).toBe(2);

    const leaving = new AbortController();
    const left = service.picture(3, { signal: leaving.signal }).catch((error: Error) => error.name);
    await expect.poll(() => service.instances()).toContain('3');
    leaving.abort();
    expect(await left).toBe('AbortError');
    await expect.poll(() => lines.join('')).toContain('/instance/3/picture');
    release.resolve();
    await Promise.all(running);
    await service.picture(4);

    expect(service.host.requests.map(({ url }) => url)).toEqual(['/1', '/2', '/4']);
  });

  test('fetch a picture again after a day, and a failed one after a minute', async () => {
    const clock = manualClock();
    let isUp = false;
    await using service = await pictureService(pictureAt('/1.png'), () => (isUp ? png() : NOTHING()), {
      clock,
    });
    const statuses: number[] = [];
    const ask = async (laterMs: number) => {
      clock.advance(laterMs);
      const { status } = await service.picture(1);
      statuses.push(status, service.host.requests.length);
    };

    await ask(0);
    isUp = true;
    await ask(59_000);
    await ask(1_000);
    await ask(86_399_000);
    await ask(1_000);

    expect(statuses).toEqual([502, 1, 502, 1, 200, 2, 200, 2, 200, 3]);
  });

  test('count towards the client’s rate limit', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png(), {
      rateLimitPerMinute: 2,
      trustedProxies: ['127.0.0.1'],
    });
    const ask = () => service.picture(1, { headers: { 'X-Forwarded-For': '203.0.113.7' } });

    const responses = [await ask(), await ask(), await ask()];

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(responses[0]?.headers.get('ratelimit-remaining')).toBe('1');
  });

  test('cannot change the picture’s address by parameters', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());
    const query = new URLSearchParams({ url: service.fileUrl('/2.png'), chain_id: '1' });

    const response = await fetch(
      `${service.url}/chain/${CHAIN_ID}/token/${TOKEN}/instance/1/picture?${query}`,
    );

    expect(response.status).toBe(200);
    expect(service.host.requests.map(({ url }) => url)).toEqual(['/1.png']);
  });
});

/** A host on a loopback address that is not allowed. */
async function hiddenHost() {
  let connections = 0;
  const server = createServer((_request, response) => response.end(PNG));
  server.on('connection', () => {
    connections += 1;
  });
  const port = await loopbackPort(server, '127.0.0.2');
  return {
    port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise(resolve => server.close(resolve));
    },
  };
}
