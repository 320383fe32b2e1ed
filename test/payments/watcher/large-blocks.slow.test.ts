import { numberToHex, pad, size, toHex } from 'viem';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { chainStatuses, paymentChainStatusBody } from '#payments/chain-status.ts';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import { setAsideList } from '#payments/store/set-aside-list.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, watcherOf } from './setting.ts';
import { eachWatchedShop, never, type ShopBehindNodes } from './watched-shop.ts';

/** Transactions that make a block longer than the answers that the watcher of these tests accepts. */
const NOISE = 25;
const MAX_ANSWER_BYTES = 40_000;
const INPUT = pad('0x', { size: 1_000 });

eachWatchedShop('a block that no answer can hold', watchedTest => {
  const test = watchedTest
    /** Opens a shop whose watcher accepts short answers only. */
    .extend('behindShortAnswers', ({ behindNodes }) => async ({ nodes = 1 } = {}) => {
      const ours = await behindNodes({ nodes, maxAnswerBytes: MAX_ANSWER_BYTES });
      const coins = await ours.open({ tokenAddress: NATIVE_COIN });
      await ours.round();
      // The scan begins a little before the session, and blocks of other tests are as long.
      for (let look = 0; look < 20 && (await unread(ours)) > 0; look++) await ours.round();
      return { ...ours, coins };
    })
    /** Sends many long transactions and the payment of a session in coins to the pool. Returns the payment. */
    .extend('crowded', ({ chain }) => async (ours: WithCoins, count = NOISE) => {
      const nonce = Number(await chain.call('eth_getTransactionCount', chain.accounts[5], 'pending'));
      for (let index = 0; index < count; index++) {
        await chain.send({
          from: 5,
          to: addressOf(chain.accounts[6] ?? ''),
          data: INPUT,
          nonce: nonce + index,
        });
      }
      return chain.send({ from: 1, to: addressOf(ours.recipient), value: ours.coins.amountDue });
    })
    .extend('status', ({ chain }) => async (ours: ShopBehindNodes) => {
      const watched = [{ chain: paymentChain(chain), status: ours.watcher.status }];
      const [status] = await chainStatuses({ db: ours.db, clock: ours.clock, watched }).all();
      return status && paymentChainStatusBody(status);
    });

  test('is read by its hashes, and its payment in coins settles', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    await ours.round();
    await crowded(ours);
    await chain.mine(1);
    const length = await lengthOfHead(chain.call);

    for (let look = 0; look < 3; look++) await ours.round();
    const seen = await ours.session(ours.coins.id);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(length).toBeGreaterThan(MAX_ANSWER_BYTES);
    expect(seen).toMatchObject({ paymentStatus: 'confirming' });
    expect(await ours.session(ours.coins.id)).toMatchObject({ status: 'completed' });
  });

  test('is read although the look that found it too long ended early', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    await crowded(ours);
    await chain.mine(2);
    const next = numberToHex(await chain.head());
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === next && params[1] === true ? null : undefined,
    );

    await ours.round();
    ours.node.tell(undefined);
    for (let look = 0; look < 3; look++) await ours.round();

    expect(await ours.session(ours.coins.id)).toMatchObject({ paymentStatus: 'confirming' });
  });

  test('is asked for once, and later looks pass over it', async ({ chain, behindShortAnswers, crowded }) => {
    await using ours = await behindShortAnswers();
    await ours.round();
    await crowded(ours);
    await chain.mine(1);
    const number = numberToHex(await chain.head());
    const asked = countFullBlocks(ours, number);

    for (let look = 0; look < 4; look++) {
      await ours.round();
      await chain.mine(1);
    }
    await ours.watcher.resign();
    await restarted(ours).runOnce(never);

    expect(asked()).toBe(1);

    function restarted({ db, clock, node }: ShopBehindNodes) {
      const rpcUrls = [node.url];
      return watcherOf({ chain: paymentChain(chain), rpcUrls, db, clock, maxAnswerBytes: MAX_ANSWER_BYTES });
    }
  });

  test.for([
    ['refused', -32_603],
    ['left unanswered', 429],
  ] as const)(
    'delays neither tokens nor later coins while a transaction is %s',
    async ([, code], { chain, behindShortAnswers, crowded, status }) => {
      await using ours = await behindShortAnswers();
      const [token, later] = [await ours.open(), await ours.open({ tokenAddress: NATIVE_COIN })];
      await ours.round();
      const { hash } = await crowded(ours);
      await ours.payment(token.amountDue);
      await chain.mine(1);
      await chain.send({ from: 2, to: addressOf(ours.recipient), value: later.amountDue });
      await chain.mine(1);
      ours.node.tell(refused('eth_getTransactionByHash', hash, { code }));

      await ours.round();
      await chain.mine(BLOCKS_TO_SETTLE);
      for (let look = 0; look < 3; look++) await ours.round();
      const during = [await ours.session(token.id), await ours.session(later.id)];
      const shown = await status(ours);
      ours.node.tell(undefined);
      ours.clock.advance(60_000);
      for (let look = 0; look < 3; look++) await ours.round();

      expect(during).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
      expect(shown).toMatchObject({ set_aside: 1, late: false, stalled: null, lag_blocks: 0 });
      expect(await ours.session(ours.coins.id)).toMatchObject({ status: 'completed' });
      expect(await status(ours)).toMatchObject({ set_aside: 0 });
    },
  );

  test('holds up no payment while the answers about its transactions do not come', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    const [token, later] = [await ours.open(), await ours.open({ tokenAddress: NATIVE_COIN })];
    await ours.round();
    await crowded(ours);
    await chain.mine(1);
    let asked = 0;
    ours.node.hang(({ method }) => {
      if (method === 'eth_getTransactionByHash') asked += 1;
      return method === 'eth_getTransactionByHash';
    });

    const looking = ours.look();
    await expect.poll(() => asked).toBeGreaterThan(0);
    ours.clock.advance(1_000);
    await looking;
    await ours.payment(token.amountDue);
    await chain.send({ from: 2, to: addressOf(ours.recipient), value: later.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(await ours.session(token.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(later.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(ours.coins.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
  });

  test('is asked for again after 1, 2 and 4 minutes', async ({ chain, behindShortAnswers, crowded }) => {
    await using ours = await behindShortAnswers();
    await ours.round();
    const { hash } = await crowded(ours);
    await chain.mine(1);
    const asked: string[] = [];
    ours.node.tell(refused('eth_getTransactionByHash', hash, { asked }));

    const minutes: number[] = [];
    for (let minute = 0; minute <= 8; minute++) {
      const before = asked.length;
      await ours.look();
      await ours.look();
      if (asked.length > before) minutes.push(minute);
      ours.clock.advance(60_000);
      await chain.mine(1);
    }

    expect(minutes).toEqual([0, 1, 3, 7]);
  });

  test('is asked for again on request, without a new block', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    await ours.round();
    const { hash } = await crowded(ours);
    await chain.mine(1);
    ours.node.tell(refused('eth_getTransactionByHash', hash));
    for (let look = 0; look < 4; look++) await ours.round();
    const before = await ours.session(ours.coins.id);
    ours.node.tell(undefined);

    ours.clock.advance(10_000);
    await transaction(ours.db, handle => setAsideList(handle, ours.owner).retry(ours.clock.now()));
    await ours.look();

    expect(before).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.session(ours.coins.id)).toMatchObject({ paymentStatus: 'confirming' });
  });

  test('is read on by the next process, where the one before it ended', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    const { db, clock, node } = ours;
    // Traces that are too long as well would be another change.
    const options = {
      chain: { ...paymentChain(chain), traceCoins: false },
      rpcUrls: [node.url],
      db,
      clock,
    };
    // The next process reads the last blocks again.
    await chain.mine(20);
    await ours.round();
    await ours.watcher.resign();
    await crowded(ours, 2 * PIECES_AT_A_TIME);
    await chain.mine(1);
    // The block is set aside, and then its first transactions are read, in a change each.
    let changes = 0;
    const killed = watcherOf({
      ...options,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      fault(step) {
        if (step === 'before record') changes += 1;
        if (changes > 2) throw new Error('killed');
      },
    });

    const asked = transactionsAsked(ours);
    await killed.runOnce(never).catch(() => {});
    await killed.resign();
    const before = new Set(asked);
    asked.clear();
    const next = watcherOf({ ...options, maxAnswerBytes: MAX_ANSWER_BYTES });
    for (let look = 0; look < 3; look++) await next.runOnce(never);

    // The change after the second part was lost.
    expect(before.size).toBe(2 * PIECES_AT_A_TIME);
    expect(asked.size).toBe(PIECES_AT_A_TIME + 1);
    expect(await ours.session(ours.coins.id)).toMatchObject({ paymentStatus: 'confirming' });
  });

  test('that a reorganisation replaces is forgotten, and the payment in the new branch settles', async ({
    chain,
    behindShortAnswers,
    crowded,
    status,
  }) => {
    await using ours = await behindShortAnswers();
    await ours.round();
    const before = await chain.snapshot();
    const { hash, raw } = await crowded(ours);
    await chain.mine(1);
    ours.node.tell(refused('eth_getTransactionByHash', hash));
    for (let look = 0; look < 3; look++) await ours.round();
    const during = await status(ours);

    await chain.fork(before, BLOCKS_TO_SETTLE + 2, [raw]);
    for (let look = 0; look < 3; look++) await ours.round();

    expect(during).toMatchObject({ set_aside: 1 });
    expect(await status(ours)).toMatchObject({ set_aside: 0 });
    expect(await ours.session(ours.coins.id)).toMatchObject({ status: 'completed' });
  });

  test('that was read makes way for the block that replaces it', async ({
    chain,
    behindShortAnswers,
    crowded,
    status,
  }) => {
    await using ours = await behindShortAnswers();
    const other = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    const before = await chain.snapshot();
    const { raw } = await chain.send({ from: 2, to: addressOf(ours.recipient), value: other.amountDue });
    await chain.call('anvil_dropAllTransactions');
    await crowded(ours);
    await chain.mine(1);
    for (let look = 0; look < 3; look++) await ours.round();
    const during = [await status(ours), await ours.session(ours.coins.id)];

    await chain.fork(before, BLOCKS_TO_SETTLE, [raw]);
    for (let look = 0; look < 3; look++) await ours.round();

    expect(during).toMatchObject([{ set_aside: 0 }, { paymentStatus: 'confirming' }]);
    expect(await ours.session(other.id)).toMatchObject({ status: 'completed' });
  });

  test('is given by another node', async ({ chain, behindNodes, status }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: amountDue });
    await chain.mine(1);
    const number = numberToHex(await chain.head());
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === number && params[1] === true
        ? new Error('response is too big')
        : undefined,
    );

    await ours.round();

    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    expect(await status(ours)).toMatchObject({ set_aside: 0 });
  });

  test('keeps sessions open that it may pay, and no others, until it is read', async ({
    chain,
    behindShortAnswers,
    crowded,
  }) => {
    await using ours = await behindShortAnswers();
    const chains = paymentChains([{ ...paymentChain(chain), mode: 'live' }]);
    const expiry = expiryWorker({ ...ours, seals, log, chains });
    const end = ours.clock.now() + 300_000;
    const coins = await ours.open({ tokenAddress: NATIVE_COIN, expiresAt: end });
    const token = await ours.open({ expiresAt: end });
    await ours.round();
    const { hash } = await crowded({ ...ours, coins });
    await chain.mine(1);
    ours.node.tell(refused('eth_getTransactionByHash', hash));
    for (let look = 0; look < 3; look++) await ours.round();

    ours.clock.advance(end + 60_000 - ours.clock.now());
    await chain.mineAt(end + 30_000);
    await ours.round();
    await expiry.runOnce(never);
    const during = [await ours.session(coins.id), await ours.session(token.id)];
    ours.node.tell(undefined);
    // The second attempt has failed, so the third one is two minutes later.
    ours.clock.advance(120_000);
    await chain.mine(BLOCKS_TO_SETTLE);
    for (let look = 0; look < 3; look++) await ours.round();

    expect(during).toMatchObject([{ status: 'active' }, { status: 'expired' }]);
    expect(await ours.session(coins.id)).toMatchObject({ status: 'completed', isLate: false });
  });
});

/** Transactions of a block that one change reads. */
const PIECES_AT_A_TIME = 50;

interface WithCoins extends Pick<ShopBehindNodes, 'recipient'> {
  readonly coins: { readonly amountDue: bigint };
}

/** Refuses a method for one hash. Lists its requests in `asked`. */
function refused(
  refusedMethod: string,
  hash: string,
  { asked = [], code = -32_603 }: { asked?: string[]; code?: number } = {},
): Lie {
  return ({ method, params }) => {
    if (method !== refusedMethod || params?.[0] !== hash) return undefined;
    asked.push(hash);
    return Object.assign(new Error('not available'), { code });
  };
}

/** Number of blocks that are set aside and not read completely. */
async function unread({ db }: ShopBehindNodes): Promise<number> {
  return (await db.from('set_aside_blocks').whereNull('read_at')).length;
}

/** Counts the requests for a block with its transactions. */
function countFullBlocks({ node }: ShopBehindNodes, number: string): () => number {
  let count = 0;
  node.tell(({ method, params }) => {
    if (method === 'eth_getBlockByNumber' && params?.[0] === number && params[1] === true) count += 1;
    return undefined;
  });
  return () => count;
}

/** Collects the hashes of the transactions that are asked for. */
function transactionsAsked({ node }: ShopBehindNodes): Set<string> {
  const asked = new Set<string>();
  node.tell(({ method, params }) => {
    if (method === 'eth_getTransactionByHash') asked.add(`${params?.[0]}`);
    return undefined;
  });
  return asked;
}

/** Bytes of the newest block with its transactions. */
async function lengthOfHead(
  call: (method: string, ...params: unknown[]) => Promise<unknown>,
): Promise<number> {
  const block = await call('eth_getBlockByNumber', 'latest', true);
  return size(toHex(JSON.stringify(block)));
}
