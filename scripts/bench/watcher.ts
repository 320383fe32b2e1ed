import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#lib/clock.ts';
import { type FaultyNode, faultyNode } from '../../test/lab/faulty-node.ts';
import { mineEvery, startPaymentChain } from '../../test/lab/payment-chain.ts';
import { type Figure, figureOf } from './figure.ts';
import { CREATION } from './payments/link.ts';
import { makeShop } from './payments/shop.ts';
import { startServer } from './server-process.ts';
import { looking } from './watcher/looks.ts';
import { manyOfOneSender } from './watcher/senders.ts';

const BLOCK_MS = 2_000;
/** Duration of a round. */
const SECONDS = 8;
const ROUNDS = 3;
/** Blocks per `BLOCK_MS` of a chain with a block every half second. */
const QUICK_BLOCKS = 4;
const SESSIONS = 10;

/** Cost of a watcher: calls to the node of its chain, CPU time of its own process, and time to settle many payments. */
export async function benchWatcher(): Promise<Figure[]> {
  return [...(await asking()), ...(await looking()), ...(await manyOfOneSender())];
}

/**
 * JSON-RPC calls of the payments service to the node of one chain with a block every two seconds, and with one every
 * half second. Each call of a batch counts. A look is a request for the newest block.
 */
async function asking(): Promise<Figure[]> {
  await using chain = await startPaymentChain({ clock: systemClock });
  await using node = await faultyNode(chain.rpcUrl);
  await using shop = await makeShop(() => []);
  await using service = await startServer('payments', shop.file, node.url, CREATION.token_address);
  let blocksPerTick = 1;
  await using _ = mineEvery(BLOCK_MS, () => chain.mine(blocksPerTick));
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

/** Counts calls in several rounds, after a few looks in which the watcher learns the block time of the chain. */
async function measured(node: FaultyNode): Promise<Calls[]> {
  await delay(4 * BLOCK_MS);
  let looks = 0;
  node.tell(({ params }) => {
    if (params?.[0] === 'latest') looks += 1;
    return undefined;
  });
  const rounds: Calls[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = { calls: node.calls.length, looks };
    await delay(SECONDS * 1_000);
    rounds.push({ calls: node.calls.length - before.calls, looks: looks - before.looks });
  }
  return rounds;
}

function figuresOf(state: string, rounds: readonly Calls[], mostPerLook: number): Figure[] {
  const shown = rounds.map(({ calls, looks }) => `${calls} calls in ${looks} looks`);
  return [
    figureOf({
      name: `JSON-RPC calls per look, ${state}`,
      rounds: rounds.map(({ calls, looks }) => calls / looks),
      wanted: { atMost: mostPerLook },
      note: shown.join(', '),
    }),
    figureOf({
      name: `JSON-RPC calls per second, ${state}`,
      rounds: rounds.map(({ calls }) => calls / SECONDS),
      wanted: { atMost: (mostPerLook * 1_000) / BLOCK_MS },
    }),
  ];
}
