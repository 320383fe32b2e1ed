import fc from 'fast-check';
import { type Address, hexToBytes } from 'viem';
import { test as base, expect } from 'vitest';
import { type AccountProof, provenBalance } from '#evm/proofs/account-proof.ts';
import type { RpcBlock } from '#evm/rpc.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { manualClock } from '../support/manual-clock.ts';

/** Block and account, as an engine shows them. */
interface ShownAccount {
  readonly block: RpcBlock;
  readonly proof: AccountProof;
  readonly balance: bigint;
}

const PAID: Address = `0x${'ab'.repeat(20)}`;
const ABSENT: Address = `0x${'cd'.repeat(20)}`;

const test = base.extend<'shownOn', Map<string, ReadonlyMap<string, ShownAccount>>>(
  'shownOn',
  { scope: 'file' },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  async ({}) => {
    const all = new Map<string, ReadonlyMap<string, ShownAccount>>();
    for (const kind of CHAIN_KINDS) {
      await using chain = await startPaymentChain({ clock: manualClock(Date.UTC(2026, 4, 4)), ...kind });
      await chain.send({ from: 0, to: PAID, value: 5n });
      await chain.mine();
      const block = Object(await chain.call('eth_getBlockByNumber', 'latest', false));
      const accounts = new Map<string, ShownAccount>();
      for (const address of [chain.accounts[1] ?? PAID, chain.token, PAID, ABSENT]) {
        const { accountProof, balance } = Object(await chain.call('eth_getProof', address, [], block.number));
        accounts.set(address, { block, proof: { address, path: accountProof }, balance: BigInt(balance) });
      }
      all.set(`${kind.engine} ${kind.hardfork}`, accounts);
    }
    return all;
  },
);

// Fills the chains here, because the time of a test is limited.
test.beforeAll(({ shownOn }) => {
  expect(shownOn.size).toBe(CHAIN_KINDS.length);
});

test.for(CHAIN_KINDS)(
  'the coins of each account are proven, and that one does not exist, on $engine with the rules of $hardfork',
  ({ engine, hardfork }, { shownOn }) => {
    for (const { block, proof, balance } of shownOn.get(`${engine} ${hardfork}`)?.values() ?? [])
      expect(provenBalance(block, proof)).toBe(balance);
  },
);

test('nothing is proven of another account, by a part of a path, or by another header', ({ shownOn }) => {
  const { block, proof } = theOneOf(shownOn);
  const longer = [...proof.path, proof.path[0] ?? '0x'];
  const lies: [RpcBlock, AccountProof][] = [
    [block, { ...proof, address: ABSENT }],
    [block, { ...proof, address: '0x12' }],
    [block, { ...proof, path: proof.path.slice(1) }],
    [block, { ...proof, path: proof.path.slice(0, -1) }],
    [block, { ...proof, path: longer }],
    [block, { ...proof, path: [] }],
    [block, { ...proof, path: Array.from({ length: 1_000 }, () => '0x80' as const) }],
    [block, { ...proof, path: [`0x${'00'.repeat(5_000)}`] }],
    [block, { ...proof, path: ['0xzz'] }],
    [{ ...block, stateRoot: `0x${'1'.repeat(64)}` }, proof],
    [{ ...block, gasUsed: '0x1' }, proof],
  ];

  for (const [header, lie] of lies) expect(provenBalance(header, lie)).toBeUndefined();
});

test('a path with any byte changed proves nothing', ({ shownOn }) => {
  const { block, proof } = theOneOf(shownOn);

  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (which, at, change) => {
      const place = which % proof.path.length;
      const bytes = hexToBytes(proof.path[place] ?? '0x');
      const position = at % bytes.length;
      bytes[position] = (bytes[position] ?? 0) ^ change;
      const path = proof.path.with(place, `0x${Buffer.from(bytes).toString('hex')}`);
      return provenBalance(block, { ...proof, path }) === undefined;
    }),
    { numRuns: 300 },
  );
});

function theOneOf(shownOn: ReadonlyMap<string, ReadonlyMap<string, ShownAccount>>): ShownAccount {
  const found = shownOn.get('anvil prague')?.get(PAID);
  if (found === undefined) throw new Error('no account');
  return found;
}
