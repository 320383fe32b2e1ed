import { type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { blockContents } from '#node/block-contents.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { watchedAddressesOf } from '#payments/watcher/node/token-transfers.ts';
import { bloomRule, watchedBlooms } from '#payments/watcher/proofs/watched-blooms.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { log } from './setting.ts';
import { chainTest } from './watched-shop.ts';

const ZEROS: Hex = `0x${'00'.repeat(256)}`;
const PAYER = `0x${'0a'.repeat(20)}`;
const OTHER = `0x${'0b'.repeat(20)}`;

/** The newest block of a chain with one payment in tokens, and coins for another address. */
const test = chainTest.extend('contents', async ({ chain }) => {
  await chain.pay({ from: 1, to: PAYER, amount: 5n });
  await chain.send({ from: 2, to: addressOf(OTHER), value: 7n });
  await chain.mine();
  return newest(chain);
});

async function newest(chain: TestPaymentChain): Promise<BlockContents> {
  const client = createChainClient({
    id: chain.chainId,
    rpcUrls: [chain.rpcUrl],
    timeoutMs: PATIENCE_MS,
    log,
  });
  const number = await chain.head();
  const params = [numberToHex(number), false] as const;
  const block = await client.request({ method: 'eth_getBlockByNumber', params: [...params] });
  if (block?.hash == null) throw new Error('the chain has no block');
  const [node] = client.nodes;
  if (node === undefined) throw new Error('the client has no node');
  return blockContents(node.raw, { number, hash: block.hash });
}

const withZeros = (contents: BlockContents): BlockContents => ({
  ...contents,
  block: { ...contents.block, logsBloom: ZEROS },
});

const watching = (tokenAddress: string, recipientAddress: string) => ({
  watched: watchedAddressesOf([{ tokenAddress, recipientAddress }]),
  coinLogsFrom: undefined,
});

test('a bloom filter and the transactions exclude what they do not show', ({ chain, contents }) => {
  const { mayConcern } = watchedBlooms();

  expect(mayConcern(contents, watching(chain.token, PAYER))).toBe(true);
  expect(mayConcern(contents, watching(chain.token, OTHER))).toBe(false);
  expect(mayConcern(contents, watching(chain.lookalike, PAYER))).toBe(false);
  expect(mayConcern(contents, watching(NATIVE_COIN, OTHER))).toBe(true);
  expect(mayConcern(contents, watching(NATIVE_COIN, PAYER))).toBe(false);
});

test('a filter of zeros excludes nothing, unless the block has no transactions', ({ chain, contents }) => {
  const { mayConcern } = watchedBlooms();
  const zeros = withZeros(contents);

  expect(mayConcern(zeros, watching(chain.token, OTHER))).toBe(true);
  expect(mayConcern({ ...zeros, transactions: [] }, watching(chain.token, OTHER))).toBe(false);
});

test('filters hold after a proven block with a log, and never again after one whose filter lacks it', ({
  contents,
}) => {
  const rule = bloomRule();
  const seen: boolean[] = [];
  for (const one of [{ ...contents, receipts: [] }, contents, withZeros(contents), contents]) {
    rule.see(one);
    seen.push(rule.holds());
  }

  expect(seen).toEqual([false, true, false, false]);
});
