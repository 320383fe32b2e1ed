import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem';
import { CURRENT_FACTORY, FACTORY_SALT } from '../../../src/deposits/deposit-factory.ts';
import { creationCall, PROXY } from '../../../src/deposits/deterministic-proxy.ts';
import { creationCode } from '../../../src/devnet/activity/artifacts.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { type Sending, turns } from '../../../test/lab/chain-actions.ts';
import { startPaymentChain, type TestPaymentChain } from '../../../test/lab/payment-chain.ts';
import type { Random } from '../../faults/random.ts';
import type { FleetChain } from '../chain.ts';

/** A chain with a deposit factory, whose newest blocks are replaced at times. */
export interface DepositChain extends FleetChain {
  /** Contract that passes coins on (`splitInput`). */
  readonly splitter: Address;
  /** Sends a transaction. It is also in the blocks that replace its block. */
  send(sending: Sending): Promise<Hex>;
  /** Blocks that were replaced so far. */
  replaced(): number;
}

const DEPLOYER = 19;
const BLOCK_MS = 1_000;
const FIRST_BLOCKS = 10;
const DEPLOYMENT_GAS = 1_500_000n;
/** Chance that a block is replaced by two others. */
const REPLACED = 0.12;
const SPLITTER = parseAbi(['function split(address[] payees) payable']);

/** Starts a chain that mines, and replaces blocks by chance, until the stack is disposed. */
export async function startDepositChain(
  id: number,
  random: Random,
  stack: AsyncDisposableStack,
): Promise<DepositChain> {
  const chain = stack.use(await startPaymentChain({ clock: systemClock, chainId: id }));
  const deployer = chain.accounts[DEPLOYER] ?? '0x';
  await chain.send({
    from: DEPLOYER,
    to: PROXY,
    data: creationCall(CURRENT_FACTORY.creationCode, FACTORY_SALT),
    gas: DEPLOYMENT_GAS,
  });
  await chain.send({ from: DEPLOYER, data: creationCode('PaymentSplitter') });
  await chain.mine(FIRST_BLOCKS);
  const splitter = getContractAddress({ from: deployer, nonce: 1n });

  const closing = new AbortController();
  // Nothing is sent while blocks are replaced, and a nonce is used once.
  const inTurn = turns();
  /** Transactions since the block that may be replaced next, as they were signed. */
  const recent: Hex[] = [];
  let replaced = 0;
  const replace = (snapshot: unknown) =>
    inTurn(async () => {
      await chain.fork(snapshot, 2, recent.splice(0));
      replaced += 1;
    });
  const mining = mineOn(chain, {
    random,
    signal: closing.signal,
    replace,
    mineForGood: () =>
      inTurn(async () => {
        await chain.mine();
        recent.splice(0);
      }),
  });
  stack.defer(async () => {
    closing.abort();
    await mining;
  });
  return {
    id,
    chain,
    splitter,
    configured: { id, rpcUrl: chain.rpcUrl, tokens: [chain.token] },
    ask: chain.call,
    send: sending =>
      inTurn(async () => {
        const { hash, raw } = await chain.send(sending);
        recent.push(raw);
        return hash;
      }),
    replaced: () => replaced,
  };
}

interface Mining {
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Replaces the blocks since a snapshot by two others. */
  readonly replace: (snapshot: unknown) => Promise<void>;
  /** Mines a block that is not replaced. */
  readonly mineForGood: () => Promise<void>;
}

async function mineOn(
  chain: TestPaymentChain,
  { random, signal, replace, mineForGood }: Mining,
): Promise<void> {
  while (!signal.aborted) {
    const isReplaced = random.chance(REPLACED);
    if (isReplaced) {
      const snapshot = await chain.snapshot();
      await chain.mine();
      await delay(BLOCK_MS);
      await replace(snapshot);
    } else {
      await mineForGood();
    }
    await delay(BLOCK_MS);
  }
}

/** Input with which the splitter passes its coins on to one address. */
export function splitInput(to: Address): Hex {
  return encodeFunctionData({ abi: SPLITTER, functionName: 'split', args: [[to]] });
}
