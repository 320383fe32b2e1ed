import { addressInTopic } from '#evm/address.ts';
import { isCoinLog, SYSTEM_ADDRESS, TRANSFER } from '../../../evm/coin-logs.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import type { Header, RpcLog } from './node-view.ts';
import type { TransferFilter } from './transfer-logs.ts';

/** A log as a node sent it, in a block or in the pool. */
export interface LogInBlock
  extends Pick<
    RpcLog,
    'address' | 'data' | 'blockHash' | 'blockNumber' | 'logIndex' | 'transactionHash' | 'removed'
  > {
  readonly topics: readonly string[];
}

/** Chain and block of a log, and what is looked for in it. */
interface LogContext {
  readonly chainId: number;
  readonly header: Header;
  readonly watched: Pick<WatchedAddresses, 'has'>;
  /** Number of the first block in which logs of the system address are transfers of coins; undefined without one. */
  readonly coinLogsFrom: number | undefined;
}

/**
 * The transfer in a log that pays a watched recipient. Requires an ERC-20 `Transfer` (three topics and one word of
 * data; ERC-721 has four topics) of a watched token, a positive amount, two different addresses, and the block that the
 * chain has at that number. Logs of coins have the same form (EIP-7708). Undefined for any other log.
 */
export function loggedTransferOf(
  log: LogInBlock,
  { chainId, header, watched, coinLogsFrom }: LogContext,
): Transfer | undefined {
  const [topic, from, to, ...more] = log.topics;
  if (topic?.toLowerCase() !== TRANSFER || more.length > 0) return undefined;
  if (!/^0x[0-9a-f]{64}$/i.test(log.data)) return undefined;
  const sender = addressInTopic(from);
  const recipient = addressInTopic(to);
  const isOfCoins = isCoinLog(log);
  // Before that block, a payment in coins is read from its transaction.
  if (isOfCoins && !hasReached(header.number, coinLogsFrom)) return undefined;
  const tokenAddress = isOfCoins ? NATIVE_COIN : log.address.toLowerCase();
  if (sender === undefined || recipient === undefined || !watched.has(tokenAddress, recipient))
    return undefined;
  const amount = BigInt(log.data);
  // A transfer of an address to itself moves nothing (Decision 111).
  if (amount === 0n || sender === recipient || !isInBlock(log, header)) return undefined;
  return {
    chainId,
    txHash: `${log.transactionHash}`.toLowerCase(),
    logIndex: Number(log.logIndex),
    blockNumber: header.number,
    blockHash: header.hash,
    blockTime: header.time,
    tokenAddress,
    sender,
    recipient,
    amount,
  };
}

/** True when coins of this block are read from its logs, and from nothing else. */
export function hasReached(block: number, coinLogsFrom: number | undefined): boolean {
  return coinLogsFrom !== undefined && block >= coinLogsFrom;
}

/** False for logs of pending, removed or replaced blocks. */
export function isInBlock(log: LogInBlock, header: Header): boolean {
  return (
    !log.removed &&
    log.logIndex !== null &&
    log.transactionHash !== null &&
    log.blockNumber !== null &&
    Number(log.blockNumber) === header.number &&
    log.blockHash?.toLowerCase() === header.hash
  );
}

/** Watched recipients on one chain, by token. All addresses are lower case. */
export interface WatchedAddresses {
  /** Token contracts with a watched recipient, without the native coin. */
  readonly tokens: readonly string[];
  /** Recipients of any of these tokens. */
  readonly recipients: readonly string[];
  readonly hasNative: boolean;
  /** All of them in the logs of blocks that also log coins. */
  readonly withCoins: TransferFilter;
  has(tokenAddress: string, recipientAddress: string): boolean;
}

/** Indexes stored recipients by token. */
export function watchedAddressesOf(
  recipients: readonly { readonly tokenAddress: string; readonly recipientAddress: string }[],
): WatchedAddresses {
  const ofTokens = recipients.filter(one => one.tokenAddress !== NATIVE_COIN);
  const keys = new Set(recipients.map(one => key(one.tokenAddress, one.recipientAddress)));
  const tokens = [...new Set(ofTokens.map(one => one.tokenAddress))];
  const hasNative = recipients.length > ofTokens.length;
  return {
    tokens,
    recipients: [...new Set(ofTokens.map(one => one.recipientAddress))],
    hasNative,
    withCoins: {
      tokens: hasNative ? [...tokens, SYSTEM_ADDRESS] : tokens,
      recipients: [...new Set(recipients.map(one => one.recipientAddress))],
    },
    has: (token, recipient) => keys.has(key(token, recipient)),
  };
}

function key(token: string, recipient: string): string {
  return `${token} ${recipient}`;
}
