import { type Address, type Hash, type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { proveBlock } from '#evm/proofs/prove-block.ts';
import type { RpcLog, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { blockProver } from '#node/block-prover.ts';
import { type Contents, blocksTest as test } from './block-contents.ts';

const OTHER: Hash = `0x${'11'.repeat(32)}`;
const SOME: Address = `0x${'22'.repeat(20)}`;

interface Change {
  readonly receipt?: Partial<RpcReceipt>;
  readonly transaction?: Partial<RpcTransaction>;
}

function oneMore(quantity: string | null | undefined): Hex {
  return numberToHex(BigInt(quantity ?? 0) + 1n);
}

/** False for the block with a transaction that proves nothing. */
function isProvable({ transactions }: Contents): boolean {
  return transactions.every(({ type, r, s }) => type !== '0x3' && r !== s);
}

/** The contents with changes to a receipt and its transaction. */
function changed(contents: Contents, at: number, { receipt, transaction }: Change): Contents {
  return {
    ...contents,
    receipts: contents.receipts.map((one, position) => (position === at ? { ...one, ...receipt } : one)),
    transactions: contents.transactions.map((one, position) =>
      position === at ? { ...one, ...transaction } : one,
    ),
  };
}

// Fills the chain here, because the time of a test is limited.
test.beforeAll(({ blocks }) => {
  expect(blocks.length).toBeGreaterThan(0);
});

test('every block of an embedded chain is proven, except one that its engine hashes by no rule', async ({
  blocks,
}) => {
  const types = new Set(blocks.flatMap(({ transactions }) => transactions.map(({ type }) => type)));
  const proofs = await Promise.all(blocks.map(proveBlock));

  const others = proofs.filter(({ kind }) => kind !== 'proven');
  // The blobs of anvil, and a transaction that EDR signs for another account.
  expect(others).toEqual([{ kind: 'unproven', reason: expect.any(String) }]);
  expect([...types]).toEqual(expect.arrayContaining(['0x0', '0x1', '0x2', '0x4']));
});

/** Every third block, with each kind of activity. */
function someOf(blocks: readonly Contents[]): Contents[] {
  return blocks.filter((_, at) => at % 3 === 0);
}

/** Changes of a transaction and its receipt that no honest node makes. */
const LIES: Readonly<Record<string, (one: { transaction: RpcTransaction; receipt: RpcReceipt }) => Change>> =
  {
    'another amount': ({ transaction: { value } }) => ({ transaction: { value: oneMore(value) } }),
    'another receiver': () => ({ transaction: { to: SOME } }),
    'another input': ({ transaction: { input } }) => ({ transaction: { input: `${input}00` } }),
    'another hash': () => ({ transaction: { hash: OTHER }, receipt: { transactionHash: OTHER } }),
    'the receipt of another transaction': () => ({ receipt: { transactionHash: OTHER } }),
    'another status': ({ receipt: { status } }) => ({
      receipt: { status: status === '0x1' ? '0x0' : '0x1' },
    }),
    'other gas': ({ receipt }) => ({ receipt: { cumulativeGasUsed: oneMore(receipt.cumulativeGasUsed) } }),
    'another bloom filter': ({ receipt: { logs } }) => ({
      receipt: { logsBloom: `0x${(logs.length === 0 ? '01' : '00').repeat(256)}` },
    }),
  };

test('a changed transaction or receipt contradicts the header', async ({ blocks }) => {
  for (const contents of someOf(blocks).filter(isProvable)) {
    for (const [at, receipt] of contents.receipts.entries()) {
      const [transaction] = contents.transactions.slice(at);
      if (transaction === undefined) throw new Error('a receipt without its transaction');
      for (const [name, lie] of Object.entries(LIES)) {
        const proof = await proveBlock(changed(contents, at, lie({ transaction, receipt })));
        expect(proof, name).toMatchObject({ kind: 'contradiction' });
      }
    }
  }
});

test('a transaction, a receipt or a log that is left out contradicts the header', async ({ blocks }) => {
  for (const contents of someOf(blocks)) {
    const { transactions, receipts } = contents;
    for (const [at, { logs }] of receipts.entries()) {
      const lies = [
        ...logs.map((_, log) => changed(contents, at, { receipt: { logs: logs.toSpliced(log, 1) } })),
        { ...contents, receipts: receipts.toSpliced(at, 1) },
        { ...contents, transactions: transactions.toSpliced(at, 1), receipts: receipts.toSpliced(at, 1) },
      ];
      for (const lie of lies) expect(await proveBlock(lie)).toMatchObject({ kind: 'contradiction' });
    }
  }
});

test('a changed log contradicts the header', async ({ blocks }) => {
  for (const contents of someOf(blocks)) {
    for (const [at, { logs }] of contents.receipts.entries()) {
      for (const [position, log] of logs.entries()) {
        const lies: RpcLog[] = [
          { ...log, address: SOME },
          { ...log, data: `${log.data}00` },
          { ...log, topics: [OTHER, ...log.topics.slice(1)] },
        ];
        for (const lie of lies) {
          const receipt = { logs: logs.with(position, lie) };
          const proof = await proveBlock(changed(contents, at, { receipt }));
          expect(proof).toMatchObject({ kind: 'contradiction', part: 'receipts' });
        }
      }
    }
  }
});

test('a changed or dropped field of the header gives another hash', async ({ blocks: [, contents] }) => {
  if (contents === undefined) throw new Error('no block');
  const { block } = contents;
  const outside = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'];
  const fields = Object.entries(block).filter(([name]) => !outside.includes(name));
  expect(fields.length).toBeGreaterThanOrEqual(21);
  for (const [name, value] of fields) {
    const lies = [
      { ...block, [name]: `${String(value)}01` },
      { ...block, [name]: null },
    ];
    for (const lie of lies) {
      expect(await proveBlock({ ...contents, block: lie }), name).toMatchObject({ kind: 'other-hash' });
    }
  }
});

test('withdrawals that are not in the header contradict it', async ({ blocks: [, contents] }) => {
  if (contents === undefined) throw new Error('no block');
  const withdrawals = [{ index: '0x1', validatorIndex: '0x2', address: SOME, amount: '0x3' }] as const;
  const lie = { ...contents, block: { ...contents.block, withdrawals: [...withdrawals] } };

  expect(await proveBlock(lie)).toMatchObject({ kind: 'contradiction', part: 'withdrawals' });
});

test('fields that a node adds leave a block proven, and so do absent bloom filters', async ({ blocks }) => {
  const contents = blocks.find(one => isProvable(one) && one.receipts.some(({ logs }) => logs.length > 1));
  if (contents === undefined) throw new Error('no block with logs');
  const block = { ...contents.block, l1BlockNumber: '0x1' };
  const receipts = contents.receipts.map(({ logsBloom: _, ...others }) => others);

  expect(await proveBlock({ ...contents, block, receipts })).toEqual({ kind: 'proven' });
});

test('an unknown field or type, a missing receipt and other numbers of logs prove nothing and contradict nothing', async ({
  blocks,
}) => {
  const contents = blocks.find(one => isProvable(one) && one.receipts.some(({ logs }) => logs.length > 1));
  if (contents === undefined) throw new Error('no block with logs');
  const { block, receipts, transactions } = contents;
  const logs = receipts.map(receipt => ({
    ...receipt,
    logs: receipt.logs.map(log => ({ ...log, logIndex: numberToHex(Number(log.logIndex) + 1) })),
  }));
  const unproven = [
    { ...contents, receipts: [null, ...receipts.slice(1)] },
    { ...contents, receipts: logs },
  ];

  for (const one of unproven) expect(await proveBlock(one)).toMatchObject({ kind: 'unproven' });
  const header = { ...block, hash: OTHER, inclusionListHash: OTHER };
  expect(await proveBlock({ ...contents, block: header })).toMatchObject({ kind: 'other-hash' });
  const types = transactions.map(one => ({ ...one, type: '0x55' as const }));
  expect(await proveBlock({ ...contents, transactions: types })).toMatchObject({ kind: 'other-hash' });
});

test('a transaction that the chain lists outside of the roots leaves a block unproven, but hides no lie', async ({
  blocks,
}) => {
  const contents = blocks.find(one => isProvable(one) && one.receipts.some(({ logs }) => logs.length > 1));
  if (contents === undefined) throw new Error('no block with logs');
  const { block, transactions, receipts } = contents;
  const outside: RpcTransaction = {
    hash: OTHER,
    type: '0x0',
    from: ZERO_ADDRESS,
    to: ZERO_ADDRESS,
    ...{ nonce: '0x0', gas: '0x0', gasPrice: '0x0', value: '0x0', input: '0x', v: '0x0', r: '0x0', s: '0x0' },
  };
  const [receipt] = receipts;
  if (receipt === undefined) throw new Error('no receipt');
  const more = {
    block,
    transactions: [...transactions, outside],
    receipts: [...receipts, { ...receipt, transactionHash: OTHER, logs: [] }],
  };

  expect(await proveBlock(more)).toMatchObject({ kind: 'unproven' });
  const lie = changed(more, 0, { receipt: { status: '0x5' } });
  expect(await proveBlock(lie)).toMatchObject({ kind: 'contradiction' });
});

/** Other forms of what a transaction, its receipt and its first log hold, with the same bytes to a lenient reader. */
const FORMS: Readonly<
  Record<string, (one: { transaction: RpcTransaction; receipt: RpcReceipt }) => object | undefined>
> = {
  'digits without 0x': ({ transaction: { nonce } }) => ({ transaction: { nonce: nonce.slice(2) } }),
  'another prefix': ({ transaction: { input } }) => ({ transaction: { input: `yy${input.slice(2)}` } }),
  'one digit too many': ({ transaction: { input } }) => ({ transaction: { input: `${input}0` } }),
  'no digits': ({ transaction: { input } }) => ({ transaction: { input: `${input}zz` } }),
  'an empty quantity': ({ transaction: { value } }) =>
    BigInt(value) === 0n ? { transaction: { value: '0x' } } : undefined,
  'an absent value': ({ transaction: { value } }) =>
    BigInt(value) === 0n ? { transaction: { value: null } } : undefined,
  'absent data': ({ transaction: { input } }) =>
    input === '0x' ? { transaction: { input: undefined } } : undefined,
  'an empty receiver': ({ transaction: { to } }) => (to ? undefined : { transaction: { to: '0x' } }),
  'no status': ({ receipt: { status } }) =>
    status === '0x0' ? { receipt: { status: undefined } } : undefined,
  'a status as a root': ({ receipt: { status } }) => ({
    receipt: { status: null, root: `0x0${status?.slice(2)}` },
  }),
  'a topic with one digit too many': ({ receipt }) =>
    ofFirstLog(receipt, ({ topics: [first, ...more] }) => ({ topics: [`${first}0`, ...more] })),
  'data of a log without 0x': ({ receipt }) => ofFirstLog(receipt, ({ data }) => ({ data: data.slice(2) })),
};

function ofFirstLog(
  { logs: [first, ...others] }: RpcReceipt,
  change: (log: RpcLog) => object,
): object | undefined {
  if (first === undefined || first.topics.length === 0) return undefined;
  return { receipt: { logs: [{ ...first, ...change(first) }, ...others] } };
}

test.for(Object.entries(FORMS))(
  '%s is not the value that the hash commits to',
  async ([, form], { blocks }) => {
    const { prove } = blockProver();
    let count = 0;
    for (const contents of blocks.filter(isProvable)) {
      for (const [at, receipt] of contents.receipts.entries()) {
        const [transaction] = contents.transactions.slice(at);
        const change = transaction && form({ transaction, receipt });
        if (change === undefined) continue;
        count += 1;
        expect(await prove(changed(contents, at, change))).toMatchObject({ kind: 'other-hash' });
      }
    }
    expect(count).toBeGreaterThan(0);
  },
);
