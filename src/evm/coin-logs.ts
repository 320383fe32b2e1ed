import { type Address, type Hex, hexToBigInt, size } from 'viem';
import { lowerCase } from './address.ts';
import type { RpcLog, RpcReceipt, RpcTransaction } from './rpc.ts';

/** Address under which the chain itself logs. It is no contract. Source: EIP-7708. */
export const SYSTEM_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe';
/** keccak256 of `Transfer(address,address,uint256)`: of coins, ERC-20 with three topics, ERC-721 with four. */
export const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** keccak256 of `Burn(address,uint256)`: a contract destroyed itself while it had coins. Source: EIP-7708. */
const BURN = '0xcc16f5dbb4873280815c1ee09dbd06736cffcc184412cf7a71a0fdb75d397ca5';

/** Coins that moved inside a transaction, in wei. */
interface CoinTransfer {
  readonly from: Address;
  /** Null for coins of a contract that destroyed itself, which are gone. */
  readonly to: Address | null;
  readonly value: bigint;
}

/** Fields of a header that came with logs of coins: the slot (EIP-7843) and the hash of its access list (EIP-7928). */
export type CoinLogFields = Partial<Record<'slotNumber' | 'blockAccessListHash', unknown>>;

/** True for a block of the Amsterdam fork or a later one, in which each transfer of coins has a log. */
export function hasCoinLogs({ slotNumber, blockAccessListHash }: CoinLogFields): boolean {
  return [slotNumber, blockAccessListHash].some(field => field !== null && field !== undefined);
}

/** True for a log of the chain itself, if its block has such logs. Any contract can log the same topics. */
export function isCoinLog({ address }: Pick<RpcLog, 'address'>): boolean {
  return address.toLowerCase() === SYSTEM_ADDRESS;
}

/**
 * Coins that moved inside a transaction of a block with such logs, in order. The transaction's own value is left out: its
 * log is the first one, and there is none when sender and receiver are the same.
 */
export function innerCoinTransfers(
  { from, to, value }: RpcTransaction,
  { logs, contractAddress }: RpcReceipt,
): CoinTransfer[] {
  const transfers = logs.filter(isCoinLog).flatMap(({ topics, data }): CoinTransfer[] => {
    // Nodes may write digits in any case.
    const [event, sender, receiver] = topics.map(lowerCase);
    if (sender === undefined || size(data) !== 32) return [];
    const value = hexToBigInt(data);
    if (event === BURN) return [{ from: addressOf(sender), to: null, value }];
    if (event !== TRANSFER || receiver === undefined) return [];
    return [{ from: addressOf(sender), to: addressOf(receiver), value }];
  });
  const [first] = transfers;
  const isOwn =
    first?.from === from.toLowerCase() &&
    first.to === (to ?? contractAddress)?.toLowerCase() &&
    first.value === BigInt(value);
  return isOwn ? transfers.slice(1) : transfers;
}

function addressOf(topic: Hex): Address {
  return `0x${topic.slice(-40)}`;
}
