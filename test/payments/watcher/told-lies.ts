import { NATIVE_COIN, type PaymentChain } from '#payments/model/payment-chain.ts';
import type { PaymentTransaction } from '#payments/model/payment-transaction.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import type { ManualClock } from '#test/support/manual-clock.ts';
import type { ChainKind } from '../../lab/chain-kind.ts';
import { faultyNode } from '../../lab/faulty-node.ts';
import { type NodeLie, nodeLies } from '../../lab/lies/node-lies.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import type { TestDatabases } from '../../support/databases.ts';
import { type WatchedShop, watchedShop } from './watched-shop.ts';

/** What a lie about a block with two payments caused. */
export interface ToldLie extends Pick<NodeLie, 'name' | 'kind'> {
  /** Payments that were not settled while the node lied, and that were not settled later either. */
  readonly missed: number;
  readonly lost: number;
  /** Payments that are not on the chain, and those of them that are called proven. */
  readonly invented: number;
  readonly inventedAsProven: number;
  /** True when the node was left out for it. */
  readonly isNamed: boolean;
}

interface Telling {
  readonly kind: ChainKind;
  readonly chain: TestPaymentChain<ManualClock>;
  readonly databases: TestDatabases;
  readonly prove: NonNullable<PaymentChain['prove']>;
  /** True when there is an honest node next to the one that lies. It is asked second. */
  readonly hasHonest: boolean;
}

/** Rounds while the node lies, and after that. */
const ROUNDS = 6;
/** Together with a round of 3 s, longer than until a second node is asked. */
const PAUSE_MS = 28_000;
const LATER_MS = 60_000;

/** Tells every lie about a block with two payments, each to a shop of its own. */
export async function tellLies(telling: Telling): Promise<readonly ToldLie[]> {
  const told: ToldLie[] = [];
  for (const at of liesOn(telling.kind, 1n).keys()) told.push(await tell(at, telling));
  return told;
}

/**
 * Lies about a block with a payment in tokens, one of the smallest unit, a payment in coins and another one of the smallest
 * unit. On Amsterdam coins have a log.
 */
function liesOn({ hardfork }: ChainKind, amount: bigint): readonly NodeLie[] {
  return nodeLies({ transactions: 4, logs: hardfork === 'amsterdam' ? [0, 1, 2, 3] : [0, 1, 3], amount });
}

async function tell(at: number, { kind, chain, databases, prove, hasHonest }: Telling): Promise<ToldLie> {
  await using node = await faultyNode(chain.rpcUrl);
  const honest = chain.rpcUrl.replace('127.0.0.1', 'localhost');
  await using ours = await watchedShop(chain, {
    database: await databases.create('payments'),
    rpcUrls: hasHonest ? [node.url, honest] : [node.url],
    ranksByClock: true,
    changes: { prove },
  });
  const sessions = [await ours.open(), await ours.open({ tokenAddress: NATIVE_COIN })];
  const [tokens, coins] = sessions.map(({ amountDue }) => amountDue);
  const invented = await ours.open();
  const lie = liesOn(kind, invented.amountDue)[at];
  if (lie === undefined || tokens === undefined || coins === undefined) throw new Error(`no lie ${at}`);
  // A chain is known by its blocks with transactions, and has one now and then.
  await chain.pay({ from: 5, to: addressOf(chain.token), amount: 1n });
  await chain.mine();
  await ours.round();

  const block = (await chain.head()) + 1;
  node.tell(lie.about({ from: block, to: block }));
  const hashes = [await chain.pay({ from: 1, to: ours.recipient, amount: tokens })];
  await chain.pay({ from: 2, to: ours.recipient, amount: 1n });
  hashes.push((await chain.send({ from: 3, to: addressOf(ours.recipient), value: coins })).hash);
  await chain.pay({ from: 4, to: ours.recipient, amount: 1n });
  await chain.mine();
  await rounds(PAUSE_MS);
  const missed = await unsettled(ours, sessions);
  const isNamed = ours.watcher.status().contradictions.current().length > 0;
  const payments = (await Promise.all([...sessions, invented].map(({ id }) => ours.payments(id)))).flat();
  const untrue = payments.filter(one => one.status === 'completed' && !isTrue(one));

  node.tell(undefined);
  await rounds(LATER_MS);

  return {
    name: lie.name,
    kind: lie.kind,
    missed,
    lost: await unsettled(ours, sessions),
    invented: untrue.length,
    inventedAsProven: untrue.filter(({ proven }) => proven === true).length,
    isNamed,
  };

  async function rounds(pauseMs: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      await chain.mine();
      ours.clock.advance(pauseMs);
      // A look may fail because the answers do not fit together; the next one starts over.
      await ours.round().catch(() => undefined);
    }
  }

  function isTrue({ txHash, amount, tokenAddress }: PaymentTransaction): boolean {
    const paid = tokenAddress === NATIVE_COIN ? coins : tokens;
    return hashes.some(hash => hash === txHash) && amount === paid;
  }
}

async function unsettled(ours: WatchedShop, sessions: readonly CheckoutSession[]): Promise<number> {
  const now = await Promise.all(sessions.map(({ id }) => ours.session(id)));
  return now.filter(({ status }) => status !== 'completed').length;
}
