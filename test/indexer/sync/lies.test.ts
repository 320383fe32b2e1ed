import { afterAll, beforeAll, test } from 'vitest';
import { chainKind, isAnvil } from '../../lab/chain-kind.ts';
import { malformedSamples } from '../../lab/lies/malformed-values.ts';
import { nodeLies, samplesOf } from '../../lab/lies/node-lies.ts';
import { eachDatabase } from '../../support/databases.ts';
import { expectNoLieOf, expectWholeChain, type LiedChain, liedBlock, startLiedChain } from './lied-chain.ts';

const LIES = [
  ...samplesOf(nodeLies(liedBlock(chainKind))),
  ...malformedSamples({ hasTraceBlock: isAnvil }),
].map(lie => [lie.name, lie] as const);

let chain: LiedChain;

beforeAll(async () => {
  chain = await startLiedChain(chainKind);
});

afterAll(() => chain.stop());

eachDatabase('an index over a node that', databases => {
  test.for(LIES)('%s stores no lie as proven', ([, lie]) => expectNoLieOf(lie, chain, databases));

  test.for(LIES)('%s has all blocks proven by an honest node next to it', ([, lie]) =>
    expectWholeChain(lie, chain, databases),
  );
});
