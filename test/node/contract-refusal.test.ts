import { numberToHex } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { contractRefusal } from '../../src/node/contract-refusal.ts';
import { deployCode } from '../indexer/hostile-contracts.ts';
import { startTestChain } from '../indexer/support.ts';

/** Runtime code by what happens to a call. Opcodes: yellow paper, appendix H. */
const CODES = {
  reverts: '0x5f5ffd',
  'has an unknown instruction': '0xfe',
  'jumps nowhere': '0x5f56',
  'takes from an empty stack': '0x01',
  'fills the stack': '0x5b5f5f5f5f5f5f5f5f600056',
  'needs more gas': '0x5b600056',
} as const;

test.for(['anvil', 'edr'] as const)(
  'what a contract does to a call on %s is distinguished from a missing block',
  async engine => {
    const chain = await startTestChain({ engine });
    onTestFinished(() => chain.stop());
    const addresses: [what: string, Awaited<ReturnType<typeof deployCode>>][] = [];
    for (const [what, code] of Object.entries(CODES)) {
      addresses.push([what, await deployCode(chain, code)]);
      await chain.mine();
    }
    const head = addresses.length;
    const outcome = async (to: Awaited<ReturnType<typeof deployCode>>, block: number) => {
      const gas = numberToHex(1_000_000);
      const asked = { method: 'eth_call', params: [{ to, data: '0x', gas }, numberToHex(block)] } as const;
      return chain.client
        .request({ ...asked, params: [...asked.params] })
        .then(() => 'answered', contractRefusal);
    };

    const outcomes: Record<string, unknown> = {};
    for (const [what, to] of addresses) outcomes[what] = await outcome(to, head);
    const [, any] = addresses[0] ?? [];
    if (any !== undefined) outcomes['is asked at a later block'] = await outcome(any, head + 1);

    expect(outcomes).toEqual({
      reverts: 'refused',
      'has an unknown instruction': 'refused',
      'jumps nowhere': 'refused',
      'takes from an empty stack': 'refused',
      'fills the stack': 'refused',
      'needs more gas': 'out of gas',
      'is asked at a later block': undefined,
    });
  },
);
