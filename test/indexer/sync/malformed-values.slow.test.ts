import { afterAll, beforeAll, test } from 'vitest';
import { chainKind, isAnvil } from '../../lab/chain-kind.ts';
import { malformedValues } from '../../lab/lies/malformed-values.ts';
import { eachDatabase } from '../../support/databases.ts';
import { expectNoLieOf, expectWholeChain, type LiedChain, startLiedChain } from './lied-chain.ts';

const VALUES = malformedValues({ hasTraceBlock: isAnvil }).map(lie => [lie.name, lie] as const);

let chain: LiedChain;

beforeAll(async () => {
  chain = await startLiedChain(chainKind);
});

afterAll(() => chain.stop());

eachDatabase('an index over a node that', databases => {
  test.for(VALUES)('%s waits for a block that can be stored', ([, lie]) =>
    expectNoLieOf(lie, chain, databases),
  );

  test.for(VALUES)('%s stores the block of an honest node next to it', ([, lie]) =>
    expectWholeChain(lie, chain, databases),
  );
});
