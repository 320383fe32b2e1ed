import { setTimeout as delay } from 'node:timers/promises';
import { type FaultyNode, faultyNode } from '../../test/support/faulty-node.ts';
import { startPaymentChain } from '../../test/support/payment-chain.ts';
import type { Figure } from './figure.ts';
import { CREATION } from './payments/link.ts';
import { makeShop } from './payments/shop.ts';
import { startServer } from './server-process.ts';
import { looking } from './watcher/looks.ts';

const BLOCK_MS = 2_000;
const SECONDS = 24;
/** Of a chain with a block every half second. */
const QUICK_BLOCKS = 4;
const SESSIONS = 10;

/** What a watcher costs: the node of its chain in calls, and its own process in time. */
export async function benchWatcher(): Promise<Figure[]> {
  return [...(await asking()), ...(await looking())];
}

/**
 * JSON-RPC calls of the payments service to the node of one chain with a block every two seconds, and with one every half second, each call of a batch
 * counted: per look, which is a question for the newest block, and per second.
 */
async function asking(): Promise<Figure[]> {
  await using chain = await startPaymentChain();
  await using node = await faultyNode(chain.rpcUrl);
  await using shop = await makeShop(() => []);
  await using service = await startServer('payments', shop.file, node.url, CREATION.token_address);
  let blocksPerTick = 1;
  const ended = new AbortController();
  const mining = mine();
  try {
    const idle = await measured(node);
    blocksPerTick = QUICK_BLOCKS;
    const quick = await measured(node);
    blocksPerTick = 1;
    for (let index = 0; index < SESSIONS; index++) await open();
    const open10 = await measured(node);
    return [
      ...figuresOf('nothing open', idle, 3),
      ...figuresOf(`nothing open, ${QUICK_BLOCKS} blocks per look`, quick, 3),
      ...figuresOf(`${SESSIONS} sessions open for coins`, open10, 10),
    ];
  } finally {
    ended.abort();
    await mining;
  }

  async function mine(): Promise<void> {
    while (!ended.signal.aborted) {
      await chain.mine(blocksPerTick);
      await delay(BLOCK_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  }

  async function open(): Promise<void> {
    const { amount, chain_id, recipient_address, token_address } = CREATION;
    const answer = await fetch(`${service.url}/api/v1/checkout-sessions`, {
      method: 'POST',
      headers: { ...shop.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount, chain_id, recipient_address, token_address }),
    });
    if (answer.status !== 201) throw new Error(`a session was not opened: ${await answer.text()}`);
  }
}

interface Calls {
  readonly calls: number;
  readonly looks: number;
}

/** After a few looks that learn the chain's rhythm. */
async function measured(node: FaultyNode): Promise<Calls> {
  await delay(4 * BLOCK_MS);
  let looks = 0;
  node.tell(({ params }) => {
    if (params?.[0] === 'latest') looks += 1;
    return undefined;
  });
  const before = node.calls.length;
  await delay(SECONDS * 1_000);
  return { calls: node.calls.length - before, looks };
}

function figuresOf(state: string, { calls, looks }: Calls, target: number): Figure[] {
  const perLook = calls / looks;
  const note = `${calls} calls in ${looks} looks`;
  const perSecond = calls / SECONDS;
  const perSecondTarget = (target * 1_000) / BLOCK_MS;
  return [
    {
      name: `JSON-RPC calls per look, ${state}`,
      value: perLook,
      target: `≤ ${target}`,
      ok: perLook <= target,
      note,
    },
    {
      name: `JSON-RPC calls per second, ${state}`,
      value: perSecond,
      target: `≤ ${perSecondTarget}`,
      ok: perSecond <= perSecondTarget,
    },
  ];
}
