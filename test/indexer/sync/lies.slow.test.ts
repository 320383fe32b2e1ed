import { afterAll, beforeAll, describe, test } from 'vitest';
import { CHAIN_KINDS } from '../../lab/chain-kind.ts';
import { nodeLies } from '../../lab/lies/node-lies.ts';
import { eachDatabase } from '../../support/databases.ts';
import { expectNoLieOf, expectWholeChain, type LiedChain, liedBlock, startLiedChain } from './lied-chain.ts';

describe.each(CHAIN_KINDS)('on $engine with the rules of $hardfork', kind => {
  const lies = nodeLies(liedBlock(kind)).map(lie => [lie.name, lie] as const);
  let chain: LiedChain;

  beforeAll(async () => {
    chain = await startLiedChain(kind);
  });

  afterAll(() => chain.stop());

  eachDatabase(
    'an index over a node that',
    databases => {
      test.for(lies)('%s stores no lie as proven', ([, lie]) => expectNoLieOf(lie, chain, databases));

      test.for(lies)('%s has all blocks proven by an honest node next to it', ([, lie]) =>
        expectWholeChain(lie, chain, databases),
      );
    },
    ['sqlite'],
  );
});
