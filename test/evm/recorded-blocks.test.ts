import { readFileSync } from 'node:fs';
import { bytesToHex, type Hash } from 'viem';
import { expect, test } from 'vitest';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { keccak } from '#evm/proofs/bytes.ts';
import { checkedInclusion, inclusionProof } from '#evm/proofs/inclusion.ts';
import { proveBlock } from '#evm/proofs/prove-block.ts';
import { encodedTransaction } from '#evm/proofs/transaction-encoding.ts';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';

// The sources are in the README of the folder.
const ROOT = new URL('../fixtures/blocks/', import.meta.url);

interface Contents extends BlockContents {
  readonly receipts: readonly RpcReceipt[];
}

function recorded(name: string): Contents {
  const file: {
    block: RpcBlock & { transactions: RpcTransaction[] };
    receipts: RpcReceipt[];
  } = JSON.parse(readFileSync(new URL(`${name}.json`, ROOT), 'utf8'));
  return { ...file, transactions: file.block.transactions };
}

const BLOCKS = [
  'ethereum-1000000',
  'base-goerli-7542',
  'optimism-goerli-8381743',
  'blast-274',
  'zora-49513698',
  'arbitrum-150000000',
];

test.for(BLOCKS)('the block %s is proven, and so is each of its transactions', async name => {
  const contents = recorded(name);

  expect(await proveBlock(contents)).toEqual({ kind: 'proven' });
  for (const [position, { hash }] of contents.transactions.entries()) {
    const proof = await inclusionProof(contents, position);
    if ('kind' in proof) throw new Error(proof.reason);
    const { block } = contents;
    expect(checkedInclusion(proof)).toMatchObject({ blockHash: block.hash, transactionHash: hash });
  }
});

test.for(BLOCKS)('a changed or missing receipt contradicts the hash of the block %s', async name => {
  const contents = recorded(name);
  for (const [at, { cumulativeGasUsed }] of contents.receipts.entries()) {
    const lies = [
      changed(contents, at, { cumulativeGasUsed: `${cumulativeGasUsed ?? '0x'}1` as const }),
      changed(contents, at, { status: '0x5' }),
      { ...contents, receipts: contents.receipts.toSpliced(at, 1) },
    ];
    for (const lie of lies) expect(await proveBlock(lie)).toMatchObject({ kind: 'contradiction' });
  }
});

test.for([
  ['a header without a root of withdrawals', 'ethereum-1000000'],
  ['a rollup, which has another root in its place', 'zora-49513698'],
] as const)('withdrawals contradict the block of %s', async ([, name]) => {
  const { block, ...others } = recorded(name);
  const address = '0x2222222222222222222222222222222222222222';
  const withdrawals = [{ index: '0x0', validatorIndex: '0x1', address, amount: '0x7' } as const];

  const proof = await proveBlock({ ...others, block: { ...block, withdrawals } });

  expect(proof).toMatchObject({ kind: 'contradiction', part: 'withdrawals' });
});

test('receipts that do not fit contradict nothing when the type of a transaction is unknown', async () => {
  const contents = recorded('arbitrum-150000000');
  const [first, ...others] = contents.transactions;
  if (first === undefined) throw new Error('no transaction');
  const unknown = { ...contents, transactions: [{ ...first, type: '0x55' as const }, ...others] };

  expect(await proveBlock(unknown)).toMatchObject({
    kind: 'other-hash',
    reason: expect.stringContaining('0x55'),
  });
});

test('the receipt of a deposit encodes its nonce from Canyon on', async () => {
  const [before, after] = ['optimism-goerli-8381743', 'blast-274'].map(recorded);
  if (before === undefined || after === undefined) throw new Error('no blocks');

  expect(await proveBlock(changed(before, 0, { depositNonce: '0x7' }))).toEqual({ kind: 'proven' });
  expect(await proveBlock(changed(after, 0, { depositNonce: '0x7' }))).toMatchObject({
    kind: 'contradiction',
  });
});

function changed(contents: Contents, at: number, change: Partial<RpcReceipt>): Contents {
  return {
    ...contents,
    receipts: contents.receipts.map((one, position) => (position === at ? { ...one, ...change } : one)),
  };
}

const TRANSACTIONS: RpcTransaction[] = JSON.parse(readFileSync(new URL('transactions.json', ROOT), 'utf8'));

test.for(TRANSACTIONS)('a transaction of type $type has the hash $hash', transaction => {
  expect(hashOf(transaction)).toBe(transaction.hash);
});

function hashOf(transaction: RpcTransaction): Hash | undefined {
  const encoded = encodedTransaction(transaction);
  return encoded && bytesToHex(keccak(encoded));
}
