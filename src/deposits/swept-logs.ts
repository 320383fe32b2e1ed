import { BaseError, type Hex, isHash, numberToHex, pad } from 'viem';
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

/** A node, and the forwarders whose sweeps are needed if it does not show those of all. */
interface SweepSource extends Pick<ChainNode, 'raw'> {
  /** Lower-case addresses, in lists that a node accepts as topics. */
  forwarders(): AsyncIterable<readonly string[]>;
}

/** Most blocks of a range that are read in parts. */
const MOST_DIVIDED = 20;
/** Receipts of a block that are requested at a time. */
const RECEIPTS_AT_A_TIME = 50;

/**
 * Reads the sweeps of all forwarders in a range of blocks. Only logs of our factories count: anyone can log the same event.
 * A range that the node refuses is read in halves. Anyone can also fill a block with sweeps of other forwarders: a block that
 * the node refuses is read by the given forwarders only, and else by its receipts.
 * @throws the error of the node, also when it refuses more single blocks than are read in parts
 */
export function sweepsIn({ raw, forwarders }: SweepSource, whole: SweepRange): Promise<LoggedSweep[]> {
  let divided = 0;
  return read(whole);

  async function read(range: SweepRange): Promise<LoggedSweep[]> {
    try {
      return await loggedIn(range);
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      const { from, to } = range;
      if (from < to) {
        const middle = Math.floor((from + to) / 2);
        const first = await read({ from, to: middle });
        return [...first, ...(await read({ from: middle + 1, to }))];
      }
      divided += 1;
      if (divided > MOST_DIVIDED) throw error;
      return readBlock(range);
    }
  }

  async function readBlock(block: SweepRange): Promise<LoggedSweep[]> {
    const sweeps: LoggedSweep[] = [];
    try {
      for await (const some of forwarders()) {
        const words = some.map(address => pad(lowerCase(address)));
        for (const sweep of await loggedIn(block, words)) sweeps.push(sweep);
      }
      return sweeps;
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      return inReceipts(raw, block.from);
    }
  }

  async function loggedIn({ from, to }: SweepRange, words?: readonly Hex[]): Promise<LoggedSweep[]> {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const topics = [SWEPT, ...(words === undefined ? [] : [[...words]])];
    const filter = { ...range, address: FACTORIES.map(one => one.address), topics };
    const logs: unknown = await raw({ method: 'eth_getLogs', params: [filter] });
    if (!Array.isArray(logs))
      throw new BaseError('The node answers with something else than a list of logs.');
    return logs.flatMap(log => sweepWithin(log, { from, to }) ?? []);
  }
}

/** Reads the sweeps of one block by its receipts, each alone. */
async function inReceipts(raw: ChainNode['raw'], number: number): Promise<LoggedSweep[]> {
  const block = await raw({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
  const hashes: unknown[] = Object(block).transactions ?? [];
  if (block === null) throw new BaseError(`The node lacks block ${number}.`);
  const sweeps: LoggedSweep[] = [];
  for (let from = 0; from < hashes.length; from += RECEIPTS_AT_A_TIME) {
    const some = hashes.slice(from, from + RECEIPTS_AT_A_TIME).filter(hash => isHash(`${hash}`));
    const receipts = await Promise.all(
      some.map(hash => raw({ method: 'eth_getTransactionReceipt', params: [lowerCase(`${hash}`)] })),
    );
    for (const receipt of receipts) {
      if (receipt?.blockHash !== block.hash)
        throw new BaseError(`The node lacks a receipt of block ${number}.`);
      for (const log of receipt.logs) {
        const sweep = sweepWithin(log, { from: number, to: number });
        if (sweep !== undefined) sweeps.push(sweep);
      }
    }
  }
  return sweeps;
}

function sweepWithin(log: unknown, { from, to }: SweepRange): LoggedSweep | undefined {
  const sweep = sweepOf(log);
  return sweep === undefined || sweep.blockNumber < from || sweep.blockNumber > to ? undefined : sweep;
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
