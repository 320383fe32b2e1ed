import fc from 'fast-check';
import { bytesToHex, hexToBytes, numberToHex } from 'viem';
import { expect, onTestFinished } from 'vitest';
import { ZERO_ADDRESS } from '#evm/address.ts';
import {
  checkedInclusion,
  type InclusionProof,
  InvalidProof,
  inclusionProof,
} from '#evm/proofs/inclusion.ts';
import { orderedTrie, valueAt } from '#evm/proofs/ordered-trie.ts';
import { blockContents } from '#node/block-contents.ts';
import { startTestChain } from '../indexer/support.ts';
import { type Contents, blocksTest as test } from './block-contents.ts';

async function proofOf(contents: Contents, position: number): Promise<InclusionProof> {
  const proof = await inclusionProof(contents, position);
  if ('kind' in proof) throw new Error(proof.reason);
  return proof;
}

function longest(blocks: readonly Contents[]): Contents {
  const [contents] = blocks.toSorted((one, other) => other.transactions.length - one.transactions.length);
  if (contents === undefined) throw new Error('no block');
  return contents;
}

// Fills the chain here, because the time of a test is limited.
test.beforeAll(({ blocks }) => {
  expect(blocks.length).toBeGreaterThan(0);
});

test('transactions of a block have proofs that show them, their block and their logs', async ({ blocks }) => {
  const contents = longest(blocks);
  const { block, transactions, receipts } = contents;

  for (const [position, receipt] of receipts.entries()) {
    expect(checkedInclusion(await proofOf(contents, position))).toEqual({
      blockHash: block.hash,
      blockNumber: BigInt(block.number ?? -1),
      timeMs: Number(block.timestamp) * 1000,
      transactionHash: transactions[position]?.hash,
      encodedTransaction: expect.stringMatching(/^0x/),
      receipt: {
        isSuccess: receipt.status === '0x1',
        logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
      },
    });
  }
});

test('positions whose keys have one, two and three bytes are proven', async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const from = chain.accounts.signer(1).address;
  const payment = { from, to: ZERO_ADDRESS, gas: numberToHex(21_000) };
  for (let sent = 0; sent < 258; sent += 1) await chain.rpc.call('eth_sendTransaction', payment);
  await chain.mine();
  const header = await chain.client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  if (header?.hash === null || header === null) throw new Error('no block');
  const contents = await blockContents(chain.client.request, { number: 1, hash: header.hash });
  expect(contents.transactions).toHaveLength(258);

  for (const position of [0, 1, 127, 128, 255, 256, 257]) {
    const proof = await inclusionProof(contents, position);
    if ('kind' in proof) throw new Error(proof.reason);
    expect(checkedInclusion(proof)).toMatchObject({
      blockHash: header.hash,
      transactionHash: contents.transactions[position]?.hash,
    });
  }
});

test('a proof with any byte changed is refused, or is of another block', async ({ blocks }) => {
  const contents = longest(blocks);
  const proof = await proofOf(contents, 20);
  const texts = [
    ...[proof.header, proof.transaction.encoded, proof.receipt.encoded],
    ...[...proof.transaction.path, ...proof.receipt.path],
  ];

  fc.assert(
    fc.property(fc.nat(texts.length - 1), fc.nat(), fc.integer({ min: 1, max: 255 }), (which, at, change) => {
      const text = texts[which] ?? '0x';
      const bytes = hexToBytes(text);
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ change;
      const lie = JSON.parse(JSON.stringify(proof).replace(text, `0x${Buffer.from(bytes).toString('hex')}`));
      try {
        return checkedInclusion(lie).blockHash !== contents.block.hash;
      } catch (error) {
        return error instanceof InvalidProof;
      }
    }),
    { numRuns: 300 },
  );
});

test('a proof is refused for another position, and without a node of its path', async ({ blocks }) => {
  const proof = await proofOf(longest(blocks), 20);
  const lies: InclusionProof[] = [
    { ...proof, position: 21 },
    { ...proof, position: 1e9 },
    { ...proof, transaction: proof.receipt },
    { ...proof, receipt: { ...proof.receipt, path: proof.receipt.path.slice(1) } },
    { ...proof, receipt: { ...proof.receipt, path: [...proof.receipt.path, '0xc0'] } },
    { ...proof, receipt: { ...proof.receipt, path: [] } },
  ];

  for (const lie of lies) expect(() => checkedInclusion(lie)).toThrow(InvalidProof);
});

test('a block that is not proven gives no proof', async ({ blocks }) => {
  const contents = longest(blocks);

  expect(await inclusionProof({ ...contents, receipts: contents.receipts.slice(1) }, 0)).toMatchObject({
    kind: 'contradiction',
  });
});

test('the path to each entry of any list leads to it, and to no other value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 300 }),
      fc.nat(),
      (values, any) => {
        const position = any % values.length;
        const { root, pathTo } = orderedTrie(values);
        const path = pathTo(position);
        const entries = values.map(value => bytesToHex(value));
        const found = [position, position + 1].map(at => valueAt(root, { position: at, path }));
        const [here, next] = found.map(value => value && bytesToHex(value));
        expect(here).toBe(entries[position]);
        // A short list is in one node, which shows all of its entries.
        expect([undefined, entries[position + 1]]).toContain(next);
      },
    ),
  );
});
