import { setTimeout as delay } from 'node:timers/promises';
import type { Hex } from 'viem';
import { NATIVE_COIN } from '../../../src/payments/model/payment-chain.ts';
import { openSession, type PaidSale, paidSale } from '../sales.ts';
import type { Shop } from '../shops/shops.ts';
import type { HostileChain } from './hostile-chain.ts';
import { attackerInput, transferInput } from './hostile-contracts.ts';
import type { LogFlood, Sizes } from './sizes.ts';

/** What the stranger works on. */
export interface Scene {
  readonly chain: HostileChain;
  /** The shop to which the stranger sends what can be read. */
  readonly shop: Shop;
  /** The shop that is paid by transactions that nobody can read. */
  readonly unluckyShop: Shop;
  readonly sizes: Sizes;
  /** Origins of data services that read the chain. */
  readonly dataUrls: readonly string[];
}

/** Traces of the stranger's work, by which it is judged. */
export interface Traces {
  /** Payments that must be settled. */
  readonly sales: PaidSale[];
  /** Payments whose receipt nobody can read. */
  readonly unreadable: PaidSale[];
  /** Transactions whose trace nobody can read. */
  readonly untraceable: string[];
  /** Transfers to the shop that belong to no session. */
  unmatched: number;
}

/** One kind of hostile work on the chain. */
interface Attack {
  readonly name: string;
  run(scene: Scene, traces: Traces): Promise<void>;
}

/** Attempts to make the service resolve the name, so that one falls between two blocks. */
const LOOKUPS = 3;
const LOOKUP_PAUSE_MS = 500;
/** Blocks that a reorganisation replaces, fewer than the confirmations of a payment. */
const DEPTH = 2;
/** Smallest units of each odd token that a shop receives. With an extra topic it is also the id of an NFT. */
export const ODD_AMOUNT = 1_000_000n;
/** Limits of gas, above what each step costs. */
const GAS = { base: 500_000, log: 1_000, logByte: 10, call: 10_000, transfer: 20_000, inputByte: 12 };

/** Makes all attacks, each followed by a reorganisation. Calls `begin` with the name of each. */
export async function attackAll(scene: Scene, begin: (attack: string) => void): Promise<Traces> {
  const traces: Traces = { sales: [], unreadable: [], untraceable: [], unmatched: 0 };
  for (const { name, run } of attacksOf(scene.sizes)) {
    begin(name);
    await run(scene, traces);
    await delay(scene.sizes.pauseMs);
    await scene.chain.reorganize(DEPTH);
  }
  return traces;
}

function attacksOf(sizes: Sizes): readonly Attack[] {
  const { readable, unreadable, trace, dust, flood, blocks, largeBlock } = sizes;
  return [
    ...readable.map(({ logs, bytes }) => ({
      name: `a payment with ${logs} logs of ${bytes} bytes`,
      run: async ({ chain, shop }: Scene, { sales }: Traces) => {
        sales.push(await payWithLogs({ logs, bytes }, { chain, shop }));
      },
    })),
    {
      name: 'a payment with an unreadable receipt',
      run: async ({ chain, unluckyShop: shop }, traces) => {
        traces.unreadable.push(await payWithLogs(unreadable, { chain, shop }));
      },
    },
    {
      name: 'an unreadable trace',
      run: async ({ chain }, { untraceable }) => {
        const input = attackerInput('callMany', BigInt(trace.calls), BigInt(trace.bytes));
        untraceable.push(await chain.send(chain.attacker, input, GAS.base + trace.calls * GAS.call));
      },
    },
    {
      name: `${dust} transfers of dust in a transaction`,
      run: async ({ chain, shop }, traces) => {
        await sendDust(dust, { chain, shop });
        traces.unmatched += dust;
      },
    },
    {
      name: `${flood.transactions} transactions of ${flood.transfers} transfers in a block`,
      run: async ({ chain, shop }, traces) => {
        await chain.alone(async ({ mine }) => {
          for (let index = 0; index < flood.transactions; index += 1)
            await sendDust(flood.transfers, { chain, shop });
          await mine();
        });
        traces.unmatched += flood.transactions * flood.transfers;
      },
    },
    {
      name: `${blocks.count} blocks of ${blocks.bytes} bytes of input`,
      run: ({ chain }) =>
        chain.alone(async ({ mine }) => {
          for (let index = 0; index < blocks.count; index += 1) {
            await sendInput(chain, blocks.bytes);
            await mine();
          }
        }),
    },
    {
      name: `a block of ${largeBlock.transactions} times ${largeBlock.bytes} bytes of input`,
      run: async ({ chain, shop }, { sales }) => {
        const coins = { token: NATIVE_COIN, chain: chain.chain, isOfLink: false };
        const { sessionId, amount } = await openSession(shop, coins);
        const transactionHash = await chain.alone(async ({ mine }) => {
          for (let index = 0; index < largeBlock.transactions; index += 1)
            await sendInput(chain, largeBlock.bytes);
          const payment = await chain.sendCoins(shop.recipient, amount);
          await mine();
          return payment;
        });
        sales.push(paidSale({ sessionId, chainId: chain.id, transactionHash }));
      },
    },
    { name: 'odd tokens', run: sendOddTokens },
    { name: 'names that ask for URLs', run: resolveName },
  ];
}

function sendInput(chain: HostileChain, bytes: number): Promise<Hex> {
  return chain.send(chain.attacker, `0x${'00'.repeat(bytes)}`, GAS.base + bytes * GAS.inputByte);
}

async function payWithLogs(
  { logs, bytes }: LogFlood,
  { chain, shop }: Pick<Scene, 'chain' | 'shop'>,
): Promise<PaidSale> {
  const { token, chainId } = chain.chain;
  const { sessionId, amount } = await openSession(shop, { token, chain: chain.chain, isOfLink: true });
  const input = attackerInput('payWithLogs', token, shop.recipient, amount, BigInt(logs), BigInt(bytes));
  const gas = GAS.base + logs * (GAS.log + bytes * GAS.logByte);
  return paidSale({ sessionId, chainId, transactionHash: await chain.send(chain.attacker, input, gas) });
}

async function sendDust(transfers: number, { chain, shop }: Pick<Scene, 'chain' | 'shop'>): Promise<void> {
  const input = attackerInput('dust', chain.chain.token, shop.recipient, BigInt(transfers));
  await chain.send(chain.attacker, input, GAS.base + transfers * GAS.transfer);
}

/** Sends each odd token to the unlucky shop. Pays a session of the other in the token that returns nothing. */
async function sendOddTokens({ chain, shop, unluckyShop }: Scene, { sales }: Traces): Promise<void> {
  // Each call of the metadata that burns all gas would otherwise occupy anvil for seconds.
  await chain.limitGas();
  for (const token of chain.tokens.values())
    await chain.send(token, transferInput(unluckyShop.recipient, ODD_AMOUNT));
  const silent = chain.tokens.get('no return value');
  if (silent === undefined) throw new Error('the token that returns nothing is not deployed');
  const { sessionId, amount } = await openSession(shop, {
    token: silent,
    chain: chain.chain,
    isOfLink: false,
  });
  const transactionHash = await chain.send(silent, transferInput(shop.recipient, amount));
  sales.push(paidSale({ sessionId, chainId: chain.id, transactionHash }));
}

/** Asks for the name several times, because an answer is kept until the next block. */
async function resolveName({ chain, dataUrls }: Scene): Promise<void> {
  for (let lookup = 0; lookup < LOOKUPS; lookup += 1) {
    for (const url of dataUrls) {
      const answer = await fetch(`${url}/insights/v1/resolve/${chain.name}?chain_id=${chain.id}`);
      await answer.arrayBuffer();
    }
    await delay(LOOKUP_PAUSE_MS);
  }
}
