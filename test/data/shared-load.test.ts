import { expect, test } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
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
