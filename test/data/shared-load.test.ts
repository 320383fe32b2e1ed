import { expect, test } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { client } from '../support/contract-client.ts';
import { serveRoutes } from '../support/serve-routes.ts';
import { answererOver, backend, chain, emptyPage } from './answer-support.ts';

test('a client that hangs up does not fail others that wait for the same load', async () => {
  const held = Promise.withResolvers<ReturnType<typeof emptyPage>>();
  const signals: AbortSignal[] = [];
  const slow = backend({
    name: 'slow',
    answers: {
      listTokenTransfers: (_, { signal }) => {
        signals.push(signal);
        return held.promise;
      },
    },
  });
  const handlers = explorer(answererOver([chain(1, slow)]).serve);
  await using server = await serveRoutes(
    await mount({ contract: explorerContract, handlers, validateResponses: true }),
  );
  const hangUp = new AbortController();
  const path = '/explorer/token-transfers';

  const first = fetch(server.url + path, { signal: hangUp.signal }).catch(() => 'gone');
  await expect.poll(() => signals.length).toBe(1);
  const others = Array.from({ length: 10 }, () => client(server.url).get(path));
  hangUp.abort();
  const hungUp = await first;
  held.resolve(emptyPage());
  const answers = await Promise.all(others);

  expect(hungUp).toBe('gone');
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(signals).toHaveLength(1);
});

test('a request after the data has changed does not share a load from before', async () => {
  const held = Promise.withResolvers<ReturnType<typeof emptyPage>>();
  let revision = 'block 1';
  let loads = 0;
  const moving = backend({
    name: 'moving',
    validity: () => ({ revision, epoch: 'index' }),
    answers: {
      listTokenTransfers() {
        loads += 1;
        return held.promise;
      },
    },
  });
  const list = explorer(answererOver([chain(1, moving)]).serve).listTokenTransfers;
  const ask = () => list({ path: {}, query: {} }, { headers: {} });

  const before = [ask(), ask()];
  await expect.poll(() => loads).toBe(1);
  revision = 'block 2';
  const after = [ask(), ask()];
  await new Promise(resolve => setImmediate(resolve));
  held.resolve(emptyPage());
  await Promise.all([...before, ...after]);

  expect(loads).toBe(2);
});

test('a back end that fails after its request was given up is not logged as a failure', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'error', destination: { write: line => void lines.push(line) } });
  const calls = [Promise.withResolvers<never>(), Promise.withResolvers<never>()] as const;
  let asked = 0;
  const closing = backend({
    name: 'closing',
    answers: { listTokenTransfers: () => calls[asked++ as 0 | 1].promise },
  });
  const { serve, close } = answererOver([chain(1, closing)], { log });
  const list = explorer(serve).listTokenTransfers;
  const ask = () => list({ path: {}, query: {} }, { headers: {} }).catch(() => 'refused');

  const heard = ask();
  await expect.poll(() => asked).toBe(1);
  calls[0].reject(new Error('out of memory'));
  await heard;
  const unheard = ask();
  await expect.poll(() => asked).toBe(2);
  await close();
  calls[1].reject(new Error('the database is closed'));
  await unheard;
  await new Promise(resolve => setImmediate(resolve));

  expect(lines.map(line => JSON.parse(line).err.message)).toEqual(['out of memory']);
});
