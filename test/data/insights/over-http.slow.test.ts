import { afterAll, beforeAll } from 'vitest';
import { eachDatabase } from '#test/support/databases.ts';
import { aggregationsAreExact } from './over-http/aggregations.ts';
import { balancesAreTrue } from './over-http/balances.ts';
import { answersAreKept } from './over-http/caching.ts';
import { chainsAnswerTogether } from './over-http/chains.ts';
import { errorsAreInTheFamilysForm } from './over-http/errors.ts';
import { filtersAndOrdersAreExact } from './over-http/filters.ts';
import { type Ground, startGround } from './over-http/ground.ts';
import { hostileTextsDoNothing } from './over-http/hostile.ts';
import { namesStandForAddresses } from './over-http/names.ts';
import { nftsAreTrue } from './over-http/nfts.ts';
import { recordsAreTrue } from './over-http/records.ts';
import { textsAreResolved } from './over-http/resolve.ts';
import { recordsOfContractsAreTrue } from './over-http/tokens.ts';

eachDatabase('insights over HTTP', databases => {
  let started: Ground | undefined;

  function ground(): Ground {
    if (started === undefined) throw new Error('nothing was started');
    return started;
  }

  beforeAll(async () => {
    started = await startGround(databases);
  });
  afterAll(() => started?.[Symbol.asyncDispose]());

  recordsAreTrue(ground);
  filtersAndOrdersAreExact(ground);
  chainsAnswerTogether(ground);
  aggregationsAreExact(ground);
  recordsOfContractsAreTrue(ground);
  balancesAreTrue(ground);
  nftsAreTrue(ground);
  namesStandForAddresses(ground);
  textsAreResolved(ground);
  errorsAreInTheFamilysForm(ground);
  hostileTextsDoNothing(ground);
  // These tests add blocks, so they run after all that count them.
  answersAreKept(ground);
});
