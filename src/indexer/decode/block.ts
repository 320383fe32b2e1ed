import { bytesColumn, bytesOrNullColumn, type Column, uintColumn } from '../../db/columns.ts';
import type { JudgedBlock } from '../fetch/fetched-block.ts';
import type { BlockContent } from './content.ts';
import { blockDetailsRow, transactionDetailsRows } from './details.ts';
import { contractRows, internalCalls, internalRow } from './internal-transactions.ts';
import { logRows } from './logs.ts';
import { optionalNumber, optionalUint, timestampMs } from './quantities.ts';
import { tokenTransferRow, tokenTransfers } from './token-transfers.ts';
import { touchedBy } from './touched-state.ts';
import { blockFees, transactionRow } from './transaction.ts';
import { withdrawalRow, withdrawals } from './withdrawals.ts';

/** The rows of one block, each in the order of its table's columns, ready to be inserted. */
export interface BlockRows {
  number: number;
  block: Column[];
  blockDetails: Column[];
  transactions: Column[][];
  transactionDetails: Column[][];
  logs: Column[][];
  tokenTransfers: Column[][];
  internalTransactions: Column[][];
  withdrawals: Column[][];
  contracts: Column[][];
  /** Tokens that moved: address, type. The first type seen is the token's. */
  tokens: Column[][];
  /** What has to be read from the chain after this block. */
  dirty: Column[][];
}

/** Turns a fetched block into rows. Pure. */
export function blockRows(fetched: JudgedBlock): BlockRows {
  const { number } = fetched;
  const content: BlockContent = {
    fetched,
    transfers: tokenTransfers(fetched),
    internals: internalCalls(fetched),
    withdrawals: withdrawals(fetched),
  };
  const touched = touchedBy(content);
  const transfers = Map.groupBy(content.transfers, ({ transactionIndex }) => transactionIndex);
  return {
    number,
    block: blockRow(content),
    blockDetails: blockDetailsRow(fetched),
    transactions: fetched.transactions.map((_, position) => transactionRow({ fetched, transfers }, position)),
    transactionDetails: transactionDetailsRows(fetched),
    logs: logRows(fetched),
    tokenTransfers: content.transfers.map((transfer, index) => tokenTransferRow(number, transfer, index)),
    internalTransactions: content.internals.map((call, index) => internalRow(number, call, index)),
    withdrawals: content.withdrawals.map((withdrawal, index) => withdrawalRow(number, withdrawal, index)),
    contracts: contractRows(fetched),
    tokens: touched.tokens,
    dirty: touched.dirty,
  };
}

/** Before Constantinople and on some chains a header lacks fields; what is absent is null or zero, never guessed. */
function blockRow({ fetched, internals, withdrawals: paid }: BlockContent): Column[] {
  const { block, transactions, number, hash, traces } = fetched;
  const fees = blockFees(fetched);
  return [
    number,
    bytesColumn(hash),
    bytesColumn(block.parentHash),
    timestampMs(block),
    bytesColumn(block.miner ?? `0x${'0'.repeat(40)}`),
    uintColumn(BigInt(block.gasLimit)),
    Number(block.gasUsed),
    optionalUint(block.baseFeePerGas),
    uintColumn(BigInt(block.difficulty ?? 0)),
    optionalUint(block.totalDifficulty),
    bytesOrNullColumn(block.nonce),
    bytesColumn(block.extraData),
    bytesColumn(block.stateRoot),
    optionalNumber(block.size),
    JSON.stringify(block.uncles ?? []),
    transactions.length,
    block.withdrawals === null || block.withdrawals === undefined ? null : paid.length,
    traces === null ? null : internals.length,
    uintColumn(fees.total),
    fees.burnt === null ? null : uintColumn(fees.burnt),
    uintColumn(fees.total - (fees.burnt ?? 0n)),
    optionalNumber(block.blobGasUsed),
    optionalUint(block.excessBlobGas),
  ];
}
