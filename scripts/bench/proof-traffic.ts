import { setTimeout as delay } from 'node:timers/promises';
import { type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { RpcLog } from '#evm/rpc.ts';
import { systemClock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN, type PaymentChain, watcherName } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { chainWatcher } from '#payments/watcher/chain-watcher.ts';
import { aSession } from '#test/lab/payments-sessions.ts';
import { type Figure, figureOf } from './figure.ts';
import { startNode } from './growth/canned-node.ts';
import { CHAIN_ID, type LargeBlock, largeChain } from './large-blocks/large-block.ts';
import { simulatedNode } from './large-blocks/simulated-node.ts';
import { makeShop, type Shop } from './payments/shop.ts';
import { seals } from './watcher/looks.ts';
import { insertSessions, watchRecipients } from './watcher/open-sessions.ts';

const BLOCK_MS = 12_000;
const HOUR_MS = 3_600_000;
/** Blocks before the measurement, in which a watcher reads those that are older than its sessions. */
const WARM_BLOCKS = 20;
/** Blocks of a round. An hour is scaled from them. */
const ROUND_BLOCKS = 10;
const ROUNDS = 3;
const BLOCKS = WARM_BLOCKS + ROUNDS * ROUND_BLOCKS;
const SESSIONS_PER_RECIPIENT = 5;
const CONFIRMATIONS = 3;
const QUIET_MS = 60;

type Mode = NonNullable<PaymentChain['prove']>;

/** Open sessions of a watcher, in a token or in coins. */
interface Demand {
  readonly name: string;
  readonly sessions: number;
  readonly isInCoins?: boolean;
  /** True when one session is paid in each block. */
  readonly isPaid?: boolean;
}

const DEMANDS: readonly Demand[] = [
  { name: 'nothing open', sessions: 0 },
  { name: '1 session open', sessions: 1 },
  { name: '100 sessions open', sessions: 100 },
  { name: '10,000 sessions open', sessions: 10_000 },
  { name: '100 sessions open, a payment in each block', sessions: 100, isPaid: true },
  { name: '1 session open, in coins', sessions: 1, isInCoins: true },
];
const MODES: readonly (readonly [mode: Mode, hosts: readonly string[]])[] = [
  ['off', ['127.0.0.1']],
  ['findings', ['127.0.0.1']],
  ['findings', ['127.0.0.1', 'localhost']],
  ['always', ['127.0.0.1']],
];

/**
 * Calls and bytes per hour from the nodes of one chain to the payments service, by `prove`, on a chain with blocks as
 * large as those of mainnet every twelve seconds. Bytes are those of the answers, uncompressed.
 */
export async function benchProofTraffic(): Promise<Figure[]> {
  const chain = trafficChain();
  const figures: Figure[] = [];
  for (const demand of DEMANDS)
    for (const [prove, hosts] of MODES) figures.push(...(await measured(chain, { demand, prove, hosts })));
  return figures;
}

/** The chain on which traffic is measured. */
export function trafficChain(): readonly LargeBlock[] {
  return largeChain(BLOCKS);
}

interface Setting extends Pick<TrafficOptions, 'hosts'> {
  readonly demand: Demand;
  readonly prove: Mode;
}

function measured(chain: readonly LargeBlock[], { demand, prove, hosts }: Setting): Promise<Figure[]> {
  const of = `\`prove: ${prove}\`${hosts.length > 1 ? ' with two nodes' : ''}, ${demand.name}`;
  return trafficOf(chain, {
    name: of,
    changes: { prove },
    hosts,
    open: async (db, shop, now) => {
      const sessions = sessionsOf(shop, chain, demand, now);
      await transaction(db, handle => insertSessions(handle, seals, sessions));
      await transaction(db, handle => watchRecipients(handle, sessions, now));
    },
  });
}

/** A watcher whose traffic is measured, with what is open. */
interface TrafficOptions {
  readonly name: string;
  readonly changes: Partial<PaymentChain>;
  /** Names by which the watcher knows the node. Each is one of its nodes. */
  readonly hosts: readonly string[];
  /** True when the chain has Multicall3. */
  readonly hasMulticall?: boolean;
  /** True when each look waits for the lanes that take longer than it: time passes faster here than for the nodes. */
  readonly isPatient?: boolean;
  /** Stores what is open at a time, in UTC milliseconds. */
  readonly open: (db: Db, shop: Shop, now: number) => Promise<void>;
}

/** Resolves once a node was not asked for a while. */
async function quiet(node: Pick<ReturnType<typeof simulatedNode>, 'traffic'>): Promise<void> {
  for (let before = -1; before !== node.traffic().calls; await delay(QUIET_MS)) before = node.traffic().calls;
}

/** Calls and bytes per hour from the nodes of a chain to its watcher. */
export async function trafficOf(
  chain: readonly LargeBlock[],
  { name: of, changes, hosts, hasMulticall = false, isPatient = false, open }: TrafficOptions,
): Promise<Figure[]> {
  const node = simulatedNode(chain, hasMulticall);
  await using server = await startNode(node.answer);
  await using shop = await makeShop(() => []);
  const db = openDatabase({ file: shop.file });
  try {
    let now = Number(chain[0]?.block.timestamp) * 1_000;
    const clock = { now: () => now, sleep: systemClock.sleep };
    await open(db, shop, now);
    db.wakeups.on(watcherName(CHAIN_ID), () => {});
    const rpcUrls = hosts.map(host => server.url.replace('127.0.0.1', host));
    const log = silentLogger();
    const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: 10_000, clock, log });
    const watcher = chainWatcher({ chain: { ...CHAIN, ...changes }, client, db, seals, clock, log });
    const { signal } = new AbortController();

    /** Lets time pass until the block with that number is the newest one, and for as long as a block lasts. */
    async function until(number: number): Promise<void> {
      const end = Number(chain[number]?.block.timestamp) * 1_000 + BLOCK_MS;
      while (now < end) {
        node.showAt(now);
        const changes = await watcher.runOnce(signal);
        if (isPatient) await quiet(node);
        if (changes === 0) now += watcher.pauseMs();
      }
    }

    await until(WARM_BLOCKS - 1);
    const rounds: { calls: number; bytes: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = node.traffic();
      await until(WARM_BLOCKS + round * ROUND_BLOCKS - 1);
      const { calls, bytes } = node.traffic();
      const perHour = HOUR_MS / (ROUND_BLOCKS * BLOCK_MS);
      rounds.push({ calls: (calls - before.calls) * perHour, bytes: (bytes - before.bytes) * perHour });
    }
    return [
      figureOf({ name: `calls to nodes per hour, ${of}`, rounds: rounds.map(({ calls }) => calls) }),
      figureOf({
        name: `MB from nodes per hour, ${of}`,
        rounds: rounds.map(({ bytes }) => bytes / 1_000_000),
        note: node.methods(),
      }),
    ];
  } finally {
    await db.destroy();
  }
}

const CHAIN: PaymentChain = {
  id: CHAIN_ID,
  name: 'Bench',
  mode: 'test',
  tokens: [
    { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
    // The token of the first log of each block, and one that has none.
    { address: `0x70${'0'.repeat(38)}`, symbol: 'USD0', decimals: 6 },
    { address: `0x70${'f'.repeat(38)}`, symbol: 'USD1', decimals: 6 },
  ],
  confirmations: CONFIRMATIONS,
  explorerUrl: undefined,
};

/** Open sessions that no block pays, but for the first ones if the demand is paid: each by the first log of a block. */
function sessionsOf(
  { owner }: Shop,
  chain: readonly LargeBlock[],
  { sessions, isInCoins = false, isPaid = false }: Demand,
  now: number,
): CheckoutSession[] {
  const { tokenDecimals: _, ...session } = aSession(owner);
  return Array.from({ length: sessions }, (__, index): CheckoutSession => {
    const log = isPaid ? chain[index]?.receipts[0]?.logs[0] : undefined;
    const recipient = Math.floor(index / SESSIONS_PER_RECIPIENT);
    return {
      ...session,
      id: `cs_traffic${index}`,
      chainId: CHAIN_ID,
      tokenAddress: isInCoins ? NATIVE_COIN : (log?.address ?? `${CHAIN.tokens[1]?.address}`),
      recipientAddress:
        log === undefined ? `0x5e${recipient.toString(16).padStart(38, '0')}` : recipientOf(log),
      amountDue: log === undefined ? session.amount + BigInt(index) + 1n : BigInt(log.data),
      isWalletOnly: false,
      depositAddress: null,
      signedAddress: null,
      payerAddress: null,
      requiredConfirmations: CONFIRMATIONS,
      createdAt: now,
      updatedAt: now,
      expiresAt: now + 24 * HOUR_MS,
    };
  });
}

function recipientOf({ topics }: RpcLog): string {
  return `0x${topics[2]?.slice(-40)}`;
}
