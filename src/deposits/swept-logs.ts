import { BaseError, isHash, numberToHex } from 'viem';
import type { ChainNode } from '#node/chain-node.ts';
import { isTooMuch } from '#node/client.ts';
import { addressInTopic, lowerCase } from '../evm/address.ts';
import { FACTORIES } from './deposit-factory.ts';
import { SWEPT } from './sweep-call.ts';

/** A payout of a forwarder, as a factory of ours logged it. Hex is lower case. */
export interface LoggedSweep {
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
  { raw }: Pick<ChainNode, 'raw'>,
  { from, to }: SweepRange,
): Promise<LoggedSweep[]> {
  try {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const filter = { ...range, address: FACTORIES.map(one => one.address), topics: [SWEPT] };
    const logs: unknown = await raw({ method: 'eth_getLogs', params: [filter] });
    if (!Array.isArray(logs))
      throw new BaseError('The node answers with something else than a list of logs.');
    return logs.flatMap(log => {
      const sweep = sweepOf(log);
      return sweep === undefined || sweep.blockNumber < from || sweep.blockNumber > to ? [] : [sweep];
    });
  } catch (error) {
    // The sweeps of one block are within every limit of nodes.
    if (!isTooMuch(error) || from >= to) throw error;
    const middle = Math.floor((from + to) / 2);
    const first = await sweepsIn({ raw }, { from, to: middle });
    return [...first, ...(await sweepsIn({ raw }, { from: middle + 1, to }))];
  }
}

/** Undefined for every other log, one that a reorganisation removed, and whatever else a node may send. */
function sweepOf(log: unknown): LoggedSweep | undefined {
  const { address: factory, topics, data, transactionHash, blockHash, ...others } = Object(log);
  const [topic, forwarder, token, ...more] = Array.isArray(topics) ? topics : [];
  const isOurs = FACTORIES.some(({ address }) => address.toLowerCase() === `${factory}`.toLowerCase());
  if (!isOurs || `${topic}`.toLowerCase() !== SWEPT || more.length > 0 || others.removed) return undefined;
  const address = addressInTopic(`${forwarder}`);
  const tokenAddress = addressInTopic(`${token}`);
  const blockNumber = Number(others.blockNumber ?? undefined);
  const logIndex = Number(others.logIndex ?? undefined);
  const isPlaced = [blockNumber, logIndex].every(one => Number.isSafeInteger(one));
  if (address === undefined || tokenAddress === undefined || !isHash(data) || !isPlaced) return undefined;
  if (!isHash(transactionHash) || !isHash(blockHash)) return undefined;
  return {
    txHash: lowerCase(transactionHash),
    logIndex,
    blockNumber,
    blockHash: lowerCase(blockHash),
    address,
    tokenAddress,
    amount: BigInt(data),
  };
}
