import type { Hash } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import { lowerCase } from '#evm/address.ts';
import { proofFile } from '#evm/proofs/proof-file.ts';
import { isTooLargeTrace } from '#evm/traces.ts';
import type { LogRow } from '#indexer/read/blocks/logs.ts';
import type { Page } from '#indexer/read/page.ts';
import type { Answers } from '../../port/backend.ts';
import { BackendError, notFound } from '../../port/backend-error.ts';
import { rawTraceOf } from '../../port/raw-trace.ts';
import { decodedLog } from '../parts/decoded.ts';
import { loadParties, type Parties } from '../parts/parties.ts';
import { assertReceipt, minedOrPending, nodeCannot } from '../source/find-transaction.ts';
import { blockPositionBefore, transferPosition } from '../source/position.ts';
import { type IndexSource, nextPage, PAGE_SIZE } from '../source/source.ts';
import { decodedTrace } from './decoded-trace.ts';
import { transferPage } from './token-transfers.ts';

/** Token transfers and logs of one transaction, in their order. */
export function transactionListAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listTransactionTokenTransfers({ path, query }, { position }) {
      const transactionHash = lowerCase(path.transaction_hash);
      const after = transferPosition(position, query);
      // Read first: the contents of a mined transaction are complete by then.
      const depth = await settled(source, transactionHash);
      const page = await reader.tokenTransfersOf({
        transactionHash,
        limit: PAGE_SIZE,
        after,
        types: query.type,
      });
      return { ...depth, body: await transferPage(source, page) };
    },

    async listTransactionLogs({ path, query }, { position }) {
      const transactionHash = lowerCase(path.transaction_hash);
      const after = blockPositionBefore(position, query);
      const depth = await settled(source, transactionHash);
      const page = await reader.logs({
        transactionHash,
        limit: PAGE_SIZE,
        after,
      });
      return { ...depth, body: await logPage(source, page) };
    },
  } satisfies Answers;
}

/** Page of logs, for every list of them. */
export async function logPage(source: IndexSource, page: Page<LogRow>): Promise<ExplorerSchemas['LogsPage']> {
  const { reader } = source;
  const parties = await loadParties(source, {
    addresses: page.items.flatMap(({ address, transactionTo }) => [address, transactionTo]),
  });
  return {
    items: page.items.map(row => logRecord(row, reader.abis, parties)),
    next_page_params: nextPage(source, page, ({ blockNumber, index }) => ({
      block_number: blockNumber,
      index,
    })),
  };
}

/**
 * Depth of a transaction. A pending one has none and its lists are empty.
 * @throws BackendError when the transaction is unknown, or its receipt is missing.
 */
async function settled(source: IndexSource, hash: Hash): Promise<{ confirmations?: number }> {
  const mined = await minedOrPending(source, hash);
  if (mined === undefined) return {};
  assertReceipt(mined);
  return { confirmations: mined.confirmations };
}

/** Trace of one transaction, read from the node at request time. */
export function rawTraceAnswers(source: IndexSource) {
  return {
    async getTransactionRawTrace({ path, query }, { signal }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) return { body: [] };
      const items = await source.reader.node.trace(hash, signal);
      if (items === null) throw nodeCannot('trace this transaction');
      if (isTooLargeTrace(items))
        throw new BackendError('unsupported', 'no_such_answer', 'the trace has too many calls');
      const trace = items.map(item => rawTraceOf(item, hash));
      // If the node is on another branch than the index, the depth is unknown.
      const isSameBlock = items.every(
        ({ blockHash = mined.row.blockHash }) => blockHash === mined.row.blockHash,
      );
      return {
        ...(isSameBlock ? { confirmations: mined.confirmations } : {}),
        body: query.decode === true ? decodedTrace(source.reader.abis, trace) : trace,
      };
    },
  } satisfies Answers;
}

/** Proof of one transaction. Its block is read from the node at the time of the request (Decision 390). */
export function transactionProofAnswers(source: IndexSource) {
  return {
    async getTransactionProof({ path }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) throw notFound(`A block of transaction ${hash}`);
      const { blockNumber, blockHash } = mined.row;
      const contents = await source.reader.node.contents({ number: blockNumber, hash: blockHash });
      if (contents === null) throw nodeCannot(`give block ${blockNumber}`);
      const proof = await proofFile(contents, { chainId: source.chainId, hash });
      if (!('kind' in proof)) return { confirmations: mined.confirmations, body: proof };
      const { kind, reason } = proof;
      if (kind !== 'contradiction') throw nodeCannot(`prove this block: ${reason}`);
      const message = `the node contradicts the hash of the block: ${reason}`;
      throw new BackendError('unavailable', 'unreadable', message);
    },
  } satisfies Answers;
}

/** Record of a log. `smart_contract` is the contract that the transaction called, not the log's emitter. */
function logRecord(row: LogRow, abis: Abis, parties: Parties): ExplorerSchemas['Log'] {
  return {
    address: parties.address(row.address),
    block_hash: row.blockHash,
    block_number: row.blockNumber,
    data: row.data,
    decoded: decodedLog(abis, row),
    index: row.index,
    smart_contract: parties.addressOrNull(row.transactionTo),
    topics: row.topics,
    transaction_hash: row.transactionHash,
  };
}
