import { isHash, numberToHex, type RpcLog } from 'viem';
import type { ChainNode } from '#node/chain-node.ts';
import { isTooMuch } from '#node/client.ts';
import { addressInTopic, lowerCase } from '../evm/address.ts';
import { FACTORIES } from './deposit-factory.ts';
import { SWEPT } from './sweep-call.ts';

/** A payout of a forwarder, as a factory of ours logged it. Hex is lower case. */
export interface Sweep {
  readonly txHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The forwarder. */
  readonly address: string;
  /** The zero address for coins. */
  readonly tokenAddress: string;
  /** Amount that left the forwarder. */
  readonly amount: bigint;
}

/** Blocks, inclusive at both ends. */
interface SweepRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the sweeps of all forwarders in a range of blocks. Only logs of our factories count: anyone can log the same event.
 * A range that the node refuses is read in halves.
 * @throws the error of the node
 */
export async function sweepsIn(
  { request }: Pick<ChainNode, 'request'>,
  { from, to }: SweepRange,
): Promise<Sweep[]> {
  try {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const filter = { ...range, address: FACTORIES.map(one => one.address), topics: [SWEPT] };
    return (await request({ method: 'eth_getLogs', params: [filter] })).flatMap(log => {
      const sweep = sweepOf(log);
      return sweep === undefined || sweep.blockNumber < from || sweep.blockNumber > to ? [] : [sweep];
    });
  } catch (error) {
    // The sweeps of one block are within every limit of nodes.
    if (!isTooMuch(error) || from >= to) throw error;
    const middle = Math.floor((from + to) / 2);
    const first = await sweepsIn({ request }, { from, to: middle });
    return [...first, ...(await sweepsIn({ request }, { from: middle + 1, to }))];
  }
}

/** Undefined for every other log, one that a reorganisation removed, and one that is not well-formed. */
function sweepOf(log: RpcLog): Sweep | undefined {
  const [topic, forwarder, token, ...more] = log.topics;
  const isOurs = FACTORIES.some(({ address }) => address.toLowerCase() === log.address.toLowerCase());
  if (!isOurs || topic?.toLowerCase() !== SWEPT || more.length > 0 || log.removed) return undefined;
  const address = addressInTopic(forwarder);
  const tokenAddress = addressInTopic(token);
  const { transactionHash, blockHash, blockNumber, logIndex, data } = log;
  if (address === undefined || tokenAddress === undefined || !isHash(data)) return undefined;
  if (transactionHash === null || blockHash === null || blockNumber === null || logIndex === null)
    return undefined;
  return {
    txHash: lowerCase(transactionHash),
    logIndex: Number(logIndex),
    blockNumber: Number(blockNumber),
    blockHash: lowerCase(blockHash),
    address,
    tokenAddress,
    amount: BigInt(data),
  };
}
