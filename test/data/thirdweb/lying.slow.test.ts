import { expect, test } from 'vitest';
import { startTestDataService } from '../../lab/data-service.ts';
import { startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { damaged, FIRST_LIES } from '../../support/lies.ts';
import { fixturesOf, OPERATIONS } from './fixtures.ts';

const CHAIN = {
  id: 1,
  name: 'Ethereum',
  native: { symbol: 'ETH', decimals: 18 },
  confirmations: 12,
  rpcUrls: [],
  abis: [],
};
const OUTAGE = '{"error":"No back end could answer: ';

test.each(OPERATIONS)(
  'whatever one field of %s is replaced by, the answer fits the contract or is an outage',
  async operation => {
    const newest = fixturesOf(operation).at(-1);
    const bodies = FIRST_LIES.flatMap(first => damaged(newest?.text ?? '', first));
    let body = '';
    await using upstream = await startScriptedUpstream(() => ({ text: body, type: 'application/json' }));
    const backends = [{ kind: 'insight', url: upstream.url, clientId: undefined }] as const;
    await using service = await startTestDataService([], { chains: [{ ...CHAIN, backends }] });

    const others = new Set<string>();
    for (body of bodies) {
      const headers = { 'cache-control': 'no-cache' };
      const answer = await fetch(`${service.url}/insights/v1${newest?.path}`, { headers });
      const text = await answer.text();
      const isExpected = [200, 404].includes(answer.status) || text.startsWith(OUTAGE);
      if (!isExpected) others.add(`${answer.status} ${text}`);
    }

    // A 200 that breaks the contract is an internal error here, and so is an unexpected error.
    expect([...others]).toEqual([]);
  },
);
