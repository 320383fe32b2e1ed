import { type Address, decodeAbiParameters, type Hex, hexToBigInt, size, slice } from 'viem';
import { bytesColumn, uintColumn } from '../../db/columns.ts';
import { lowerCase } from '../../evm/address.ts';
import { hasCoinLogs, isCoinLog, TRANSFER } from '../../evm/coin-logs.ts';
import type { RpcLog } from '../../evm/rpc.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import type { NewRow } from '../schema/tables.ts';
import { type TokenType, tokenTypeColumn } from '../schema/transaction-types.ts';

/** ERC-1155: `TransferSingle(address,address,address,uint256,uint256)`. */
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** ERC-1155: `TransferBatch(address,address,address,uint256[],uint256[])`. */
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

export interface TokenTransfer {
  /** Position among the block's token transfers. */
  index: number;
  transactionIndex: number;
  logIndex: number;
  /** Position in an ERC-1155 batch, otherwise 0. */
  batchIndex: number;
  token: Address;
  type: TokenType;
  from: Address;
  to: Address;
  tokenId: bigint | null;
  amount: bigint | null;
}

/**
 * Standard token transfers in the block's logs, in order. Logs with a transfer topic but unusable data are skipped, and
 * those of the chain itself about coins.
 */
export function decodedTokenTransfers({ block, transactions }: FetchedBlock): TokenTransfer[] {
  const isOfToken = hasCoinLogs(block) ? (log: RpcLog) => !isCoinLog(log) : () => true;
  return transactions
    .flatMap(({ receipt }, transactionIndex) =>
      (receipt?.logs ?? []).filter(isOfToken).flatMap(log =>
        moves(log).map((move, batchIndex) => ({
          ...move,
          transactionIndex,
          logIndex: Number(log.logIndex),
          batchIndex,
          token: lowerCase(log.address),
        })),
      ),
    )
    .map((transfer, index) => ({ ...transfer, index }));
}

/** Most transfers that a log can hold, without decoding it. Each item of a batch takes at least a word of the data. */
export function mostTransfersIn({ topics, data }: Pick<RpcLog, 'topics' | 'data'>): number {
  return eventOf(topics) === TRANSFER_BATCH ? Math.ceil(size(data) / 32) : 1;
}

type Move = Pick<TokenTransfer, 'type' | 'from' | 'to' | 'tokenId' | 'amount'>;

function moves(log: RpcLog): Move[] {
  const topic = eventOf(log.topics);
  const [, first, second, third] = log.topics;
  if (topic === TRANSFER && first !== undefined && second !== undefined) {
    const parties = { from: addressOf(first), to: addressOf(second) };
    if (third !== undefined) {
      return [{ type: 'ERC-721', ...parties, tokenId: hexToBigInt(third), amount: null }];
    }
    if (size(log.data) < 32) return [];
    return [{ type: 'ERC-20', ...parties, tokenId: null, amount: hexToBigInt(slice(log.data, 0, 32)) }];
  }
  if (second === undefined || third === undefined) return [];
  const parties = { type: 'ERC-1155' as const, from: addressOf(second), to: addressOf(third) };
  if (topic === TRANSFER_SINGLE && size(log.data) >= 64) {
    const tokenId = hexToBigInt(slice(log.data, 0, 32));
    return [{ ...parties, tokenId, amount: hexToBigInt(slice(log.data, 32, 64)) }];
  }
  if (topic === TRANSFER_BATCH) {
    return batch(log.data).map(({ tokenId, amount }) => ({ ...parties, tokenId, amount }));
  }
  return [];
}

function batch(data: Hex): { tokenId: bigint; amount: bigint }[] {
  try {
    const [ids, amounts] = decodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], data);
    if (ids.length !== amounts.length) return [];
    return ids.map((tokenId, position) => ({ tokenId, amount: amounts[position] ?? 0n }));
  } catch {
    // Any contract can emit this topic with any data. Data that does not decode is not a transfer.
    return [];
  }
}

function addressOf(topic: Hex): Address {
  return lowerCase(`0x${topic.slice(-40)}`);
}

/** Event of a log. Nodes may write its digits in any case. */
function eventOf([topic]: readonly Hex[]): Hex | undefined {
  return topic && lowerCase(topic);
}

/** Row of a transfer without the numbers of its parties, which the writer adds. */
export type TransferOfBlock = Omit<NewRow<'token_transfers'>, 'token_number' | 'from_number' | 'to_number'>;

export function tokenTransferRow(blockNumber: number, transfer: TokenTransfer): TransferOfBlock {
  const { index, transactionIndex, logIndex, batchIndex, token, type, from, to, tokenId, amount } = transfer;
  return {
    id: positionKey({ blockNumber, index }),
    transaction_id: positionKey({ blockNumber, index: transactionIndex }),
    log_index: logIndex,
    batch_index: batchIndex,
    token: bytesColumn(token),
    token_type: tokenTypeColumn(type),
    from_address: bytesColumn(from),
    to_address: bytesColumn(to),
    token_id: tokenId === null ? null : uintColumn(tokenId),
    amount: amount === null ? null : uintColumn(amount),
  };
}

/** Tokens that moved. The first transfer in the block gives the type. */
export function movedTokens(blockNumber: number, transfers: readonly TokenTransfer[]): MovedToken[] {
  const types = new Map(transfers.toReversed().map(({ token, type }) => [token, type]));
  return [...types].map(([token, type]) => ({
    address: bytesColumn(token),
    type: tokenTypeColumn(type),
    first_block: blockNumber,
  }));
}

/** Columns of a token that are known from a transfer. */
export type MovedToken = Pick<NewRow<'tokens'>, 'address' | 'type' | 'first_block'>;
