import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { provenTransactions } from '#payments/watcher/proofs/proven-transfers.ts';

// The source is in the README of the folder.
const FILE = new URL('../../fixtures/blocks/ethereum-1000000.json', import.meta.url);
const COINS = 100;

test('a block full of coins to recover the senders of lets other work run in between', async () => {
  const file: { block: RpcBlock & { transactions: RpcTransaction[] }; receipts: RpcReceipt[] } = JSON.parse(
    readFileSync(FILE, 'utf8'),
  );
  const [transaction] = file.block.transactions;
  const [receipt] = file.receipts;
  if (transaction === undefined || receipt === undefined) throw new Error('no transaction');
  const transactions = Array.from({ length: COINS }, () => transaction);
  const receipts = transactions.map(() => receipt);
  let turns = 0;
  let isOver = false;

  const work = provenTransactions({ ...file, transactions, receipts }, { chainId: 1, hashes: undefined });
  const others = (async () => {
    for (; !isOver; turns += 1) await setImmediate();
  })();
  const found = await work;
  isOver = true;
  await others;

  expect(found.get(transaction.hash)?.sent.from).toBe(transaction.from);
  expect(turns).toBeGreaterThanOrEqual(COINS);
});
