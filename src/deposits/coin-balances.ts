import {
  type Address,
  BaseError,
  decodeFunctionResult,
  encodeFunctionData,
  type Hash,
  type Hex,
  hexToBigInt,
  isHex,
  multicall3Abi,
  numberToHex,
  size,
} from 'viem';
import type { ChainNode } from '#node/chain-node.ts';
import { nullIfAnswered } from '#node/client.ts';
import type { StateAt } from '../evm/rpc.ts';

/** Contract that reads many balances in one call. Source: multicall3.com. */
export const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11';

/** The node that is asked, on one of its lines. */
export interface AskedNode extends Pick<ChainNode, 'raw'> {
  readonly node: ChainNode;
}

/** Block at whose end balances are read. */
interface BalanceBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** Balances of one call. Their input has 112 kB. */
const BALANCES_PER_CALL = 500;
/** Time after which a node is tried again that could not read balances together. */
const ALONE_MS = 60 * 60_000;
const WORD_BYTES = 32;

/** Experience with one node. */
interface BalanceNode {
  /** True once it has refused a block by its hash, and answered by its number. */
  isByNumber: boolean;
  /** Time in UTC milliseconds up to which it is asked for each balance alone. */
  aloneUntil: number;
}

/** A node has the block, and cannot or does not say balances. */
class UnreadableBalance extends BaseError {
  override readonly name = 'UnreadableBalance';
}

/**
 * Reads coins of many addresses at the end of one block, named by its hash (EIP-1898) where the node can do that. Otherwise
 * the hash at its number is compared before and after. Balances are read in groups where the chain has Multicall3.
 */
export function coinBalances({ clock }: { readonly clock: { now(): number } }) {
  const known = new WeakMap<ChainNode, BalanceNode>();

  function experienceWith({ node }: AskedNode): BalanceNode {
    const experience = known.get(node) ?? { isByNumber: false, aloneUntil: Number.NEGATIVE_INFINITY };
    known.set(node, experience);
    return experience;
  }

  async function ofGroup(asked: AskedNode, at: StateAt, group: readonly Address[]): Promise<bigint[]> {
    const node = experienceWith(asked);
    if (group.length > 1 && clock.now() >= node.aloneUntil) {
      const together = await balancesTogether(asked, at, group);
      if (together !== undefined) return together;
      // Fails, and changes nothing, when the node lacks the state.
      const alone = await balancesAlone(asked, at, group);
      node.aloneUntil = clock.now() + ALONE_MS;
      return alone;
    }
    return balancesAlone(asked, at, group);
  }

  async function readAt(asked: AskedNode, at: StateAt, addresses: readonly Address[]): Promise<bigint[]> {
    const balances: bigint[] = [];
    for (let from = 0; from < addresses.length; from += BALANCES_PER_CALL)
      balances.push(...(await ofGroup(asked, at, addresses.slice(from, from + BALANCES_PER_CALL))));
    return balances;
  }

  async function readByNumber(
    asked: AskedNode,
    { number, hash }: BalanceBlock,
    addresses: readonly Address[],
  ): Promise<bigint[] | null> {
    const at = numberToHex(number);
    if ((await hashAt(asked, at)) !== hash) return null;
    const balances = await readAt(asked, at, addresses).catch(nullIfAnswered);
    return (await hashAt(asked, at)) === hash ? balances : null;
  }

  return {
    /**
     * Balances in wei, in the order of the addresses; null when the node lacks the block, or its state.
     * @throws the error of a node that does not answer
     */
    async read(
      asked: AskedNode,
      block: BalanceBlock,
      addresses: readonly Address[],
    ): Promise<bigint[] | null> {
      if (addresses.length === 0) return [];
      const node = experienceWith(asked);
      if (node.isByNumber) return readByNumber(asked, block, addresses);
      const at = { blockHash: block.hash, requireCanonical: true };
      const balances = await readAt(asked, at, addresses).catch(nullIfAnswered);
      if (balances !== null) return balances;
      const byNumber = await readByNumber(asked, block, addresses);
      node.isByNumber = byNumber !== null;
      return byNumber;
    },
    /** Balances that one call to a node reads. */
    balancesPerCall: (asked: AskedNode): number =>
      clock.now() < experienceWith(asked).aloneUntil ? 1 : BALANCES_PER_CALL,
  };
}

/** Undefined when the chain has no such contract, or the node refuses the call or answers with something else. */
async function balancesTogether(
  { raw }: AskedNode,
  at: StateAt,
  holders: readonly Address[],
): Promise<bigint[] | undefined> {
  const calls = holders.map(holder => ({
    target: MULTICALL3,
    allowFailure: false,
    callData: encodeFunctionData({ abi: multicall3Abi, functionName: 'getEthBalance', args: [holder] }),
  }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
  const output = await raw({ method: 'eth_call', params: [{ to: MULTICALL3, data }, at] }).catch(
    nullIfAnswered,
  );
  const words = output === null ? [] : wordsOf(output);
  return words.length === holders.length ? words : undefined;
}

/** Values of successful calls, of a word each. */
function wordsOf(output: Hex): bigint[] {
  try {
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: output });
    return results.flatMap(({ success, returnData }) =>
      success && size(returnData) === WORD_BYTES ? [hexToBigInt(returnData)] : [],
    );
  } catch {
    // A node can answer with any bytes.
    return [];
  }
}

async function balancesAlone(
  { raw, node }: AskedNode,
  at: StateAt,
  [first, ...others]: readonly Address[],
): Promise<bigint[]> {
  const balanceOf = async (holder: Address) => {
    const balance: unknown = await raw({ method: 'eth_getBalance', params: [holder, at] });
    if (!isHex(balance) || balance.length < 3 || balance.length > '0x'.length + 2 * WORD_BYTES)
      throw new UnreadableBalance(`${node.host} answers with a balance that is no number of 32 bytes.`);
    return BigInt(balance);
  };
  if (first === undefined) return [];
  // A node without the state refuses one call, not all of them.
  const balance = await balanceOf(first);
  return [balance, ...(await Promise.all(others.map(balanceOf)))];
}

async function hashAt({ raw }: AskedNode, number: Hex): Promise<string | undefined> {
  const block = await raw({ method: 'eth_getBlockByNumber', params: [number, false] });
  return block?.hash?.toLowerCase();
}
