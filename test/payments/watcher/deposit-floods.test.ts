import { describe, expect } from 'vitest';
import { FACTORIES } from '#deposits/deposit-factory.ts';
import { DAY_MS } from '#lib/clock.ts';
import { sweepStore } from '#payments/deposits/sweep-store.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import {
  COINS,
  confirm,
  deployFactory,
  sendByContract,
  sweepByStranger,
  withoutTraces,
} from './deposit-support.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

const HOUR_MS = 3_600_000;
const tooMany = Object.assign(new Error('query returned more than 10000 results'), { code: -32_005 });

/** Questions for logs as a node gets them. */
interface LogQuestion {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly address: readonly string[];
  readonly topics: readonly unknown[];
}

/** A node that refuses some questions for the logs of one block. */
function refusing(block: () => number, isRefused: (question: LogQuestion) => boolean): Lie {
  return (call, ...rest) => {
    if (call.method !== 'eth_getLogs') return withoutTraces(call, ...rest);
    const question: LogQuestion = Object(call.params?.[0]);
    const isAsked = Number(question.fromBlock) <= block() && Number(question.toBlock) >= block();
    return isAsked && isRefused(question) ? tooMany : undefined;
  };
}

const isOfFactories = ({ address }: LogQuestion) =>
  FACTORIES.some(one => address.includes(one.address) || address.includes(one.address.toLowerCase()));

eachWatchedShop('a block full of a stranger’s logs', databaseTest => {
  const test = databaseTest.extend(
    'untraced',
    ({ chain, behindNodes }) =>
      async (): Promise<ShopBehindNodes> => {
        await deployFactory(chain);
        const ours = await behindNodes();
        ours.node.tell(withoutTraces);
        return ours;
      },
  );

  describe('of sweeps', () => {
    /** Coins that came by a contract and were swept in a block that the node refuses like this. */
    async function sweptIn(
      chain: TestPaymentChain,
      ours: ShopBehindNodes,
      isRefused: (question: LogQuestion) => boolean,
    ) {
      const session = await ours.open(COINS);
      let flooded = Number.POSITIVE_INFINITY;
      ours.node.tell(refusing(() => flooded, isRefused));
      await confirm(chain, ours);
      await sendByContract(chain, `${session.depositAddress}`, session.amount);
      await chain.mine();
      await sweepByStranger(chain, ours, session);
      await chain.mine();
      flooded = await chain.head();
      await confirm(chain, ours);
      await confirm(chain, ours);
      return ours.session(session.id);
    }

    test('hides no sweep of ours from a node that shows those of our addresses', async ({
      chain,
      untraced,
    }) => {
      await using ours = await untraced();

      const paid = await sweptIn(chain, ours, one => isOfFactories(one) && one.topics[1] === undefined);

      expect(paid).toMatchObject({ status: 'completed', amountReceived: paid.amount });
    });

    test('hides no sweep of ours from a node that shows its receipts only', async ({ chain, untraced }) => {
      await using ours = await untraced();

      const paid = await sweptIn(chain, ours, isOfFactories);

      expect(paid).toMatchObject({ status: 'completed', amountReceived: paid.amount });
      const swept = await sweepStore(ours.db).ofAddresses(chain.chainId, [`${paid.depositAddress}`]);
      expect(swept).toMatchObject([{ amount: paid.amount }]);
    });

    test('stops no look at the tokens of ended checkouts, although no node shows it', async ({
      chain,
      untraced,
    }) => {
      await using ours = await untraced();
      const session = await ours.open({ depositRules: {} });
      await ours.expire(session.id);
      await confirm(chain, ours);
      const { hash } = await chain.send({ from: 3, to: addressOf(ours.recipient), value: 0n });
      await chain.mine();
      const flooded = await chain.head();
      const withoutLogs = refusing(() => flooded, isOfFactories);
      ours.node.tell((call, ...rest) =>
        call.method === 'eth_getTransactionReceipt' && call.params?.[0] === hash
          ? tooMany
          : withoutLogs(call, ...rest),
      );
      for (let count = 0; count < 2; count++) {
        ours.clock.advance(2 * HOUR_MS);
        await confirm(chain, ours);
      }

      await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: 5n });
      await confirm(chain, ours);
      ours.clock.advance(24 * HOUR_MS);
      await confirm(chain, ours);

      expect(await ours.payments(session.id)).toMatchObject([{ amount: 5n, status: 'completed' }]);
    });
  });

  describe('of transfers to the address of an ended checkout', () => {
    /** Two ended checkouts whose addresses are left to looks, and are paid. The block of the first payment is refused. */
    async function paidAfterwards(chain: TestPaymentChain, ours: ShopBehindNodes) {
      const [flooded, other] = [await ours.open({ depositRules: {} }), await ours.open({ depositRules: {} })];
      await ours.expire(flooded.id);
      await ours.expire(other.id);
      for (let count = 0; count < 2; count++) {
        ours.clock.advance(2 * HOUR_MS);
        await confirm(chain, ours);
      }
      const hash = await chain.pay({ from: 1, to: `${flooded.depositAddress}`, amount: 5n });
      await chain.mine();
      const block = await chain.head();
      await chain.pay({ from: 1, to: `${other.depositAddress}`, amount: 7n });
      await confirm(chain, ours);
      const word = `${flooded.depositAddress}`.slice(2);
      const withoutLogs = refusing(
        () => block,
        ({ topics }) => JSON.stringify(topics).toLowerCase().includes(word),
      );
      const amounts = async () =>
        (await Promise.all([flooded, other].map(({ id }) => ours.payments(id)))).map(payments =>
          payments.map(({ amount }) => amount),
        );
      return { hash, withoutLogs, amounts };
    }

    test('is read by its receipts, and delays no look at others', async ({ chain, untraced }) => {
      await using ours = await untraced();
      const { withoutLogs, amounts } = await paidAfterwards(chain, ours);
      ours.node.tell(withoutLogs);

      ours.clock.advance(DAY_MS);
      await confirm(chain, ours);

      expect(await amounts()).toEqual([[5n], [7n]]);
    });

    test('delays the look at that address only while its receipts are refused', async ({
      chain,
      untraced,
    }) => {
      await using ours = await untraced();
      const { hash, withoutLogs, amounts } = await paidAfterwards(chain, ours);
      ours.node.tell((call, ...rest) =>
        call.method === 'eth_getTransactionReceipt' && call.params?.[0] === hash
          ? tooMany
          : withoutLogs(call, ...rest),
      );

      ours.clock.advance(DAY_MS);
      await confirm(chain, ours);
      const meanwhile = await amounts();
      ours.node.tell(withoutTraces);
      ours.clock.advance(DAY_MS);
      await confirm(chain, ours);

      expect(meanwhile).toEqual([[], [7n]]);
      expect(await amounts()).toEqual([[5n], [7n]]);
    });
  });
});
