import { TRANSFER } from '#evm/coin-logs.ts';
import type { Backend } from '../backends/port/backend.ts';
import { isOfKind } from '../backends/port/backend-error.ts';
import { type InsightsAnswers, type RecordsQuery, recordValues } from '../backends/port/insights-backend.ts';
import type {
  ActivityQuestion,
  LiveBlock,
  LiveRange,
  LiveSource,
  WatchedActivity,
} from '../backends/port/live-source.ts';

/** Pause between two looks at a back end of another service, in milliseconds, and watches per look (Decision 410). */
const POLL_MS = 5_000;
const MAX_WATCHES = 20;
/** Deadline of one request to such a back end. */
const TIMEOUT_MS = 10_000;
/** Blocks, and records of a watch, of one request. */
const PAGE_SIZE = 50;

/** Reads of a back end by its answers; undefined when it lists no blocks. */
export function remoteSource(backend: Backend, pollMs: number = POLL_MS): LiveSource | undefined {
  const { listBlocks, getTransaction } = backend.answers;
  if (listBlocks !== undefined && getTransaction !== undefined) return remote(explorerReads(backend), pollMs);
  const records = backend.insights?.records;
  return records === undefined ? undefined : remote(insightsReads(backend.chainId, records), pollMs);
}

/** Parts of a source that both kinds share: each reads its latest blocks, and the records of one watch. */
interface RemoteReads {
  /** The latest blocks, in any order. */
  latest(): Promise<readonly LiveBlock[]>;
  block(number: number): Promise<LiveBlock | undefined>;
  /** Transactions of a watch with the numbers of their blocks, the newest ones. */
  transactionsOf(
    question: Pick<ActivityQuestion, 'kind'> & { readonly value: string; readonly from: number },
  ): Promise<readonly Omit<WatchedActivity, 'watched'>[]>;
  inclusion: LiveSource['inclusion'];
}

function remote(reads: RemoteReads, pollMs: number): LiveSource {
  let known: readonly LiveBlock[] = [];

  async function look(): Promise<readonly LiveBlock[]> {
    known = [...(await reads.latest())].sort((a, b) => a.number - b.number);
    return known;
  }

  return {
    isExact: false,
    pollMs,
    maxWatches: MAX_WATCHES,
    head: async () => (await look()).at(-1),
    async blocks({ from, to }: LiveRange) {
      // The latest look at the head has read the latest ones.
      const among = known.filter(({ number }) => number >= from && number <= to);
      if (among.length > 0 || from !== to) return among;
      const one = await reads.block(from);
      return one === undefined ? [] : [one];
    },
    async activity({ kind, values, from, to }) {
      const found: WatchedActivity[] = [];
      for (const watched of values) {
        const rows = await reads.transactionsOf({ kind, value: watched, from });
        const seen = new Set<string>();
        for (const { transactionHash, blockNumber } of rows) {
          if (blockNumber < from || blockNumber > to || seen.has(transactionHash)) continue;
          seen.add(transactionHash);
          found.push({ watched, transactionHash, blockNumber });
        }
      }
      return found.sort((a, b) => a.blockNumber - b.blockNumber);
    },
    orphans: async () => [],
    inclusion: reads.inclusion,
  };
}

/** A Blockscout, by its lists of document 1. */
function explorerReads({ answers }: Backend): RemoteReads {
  const ask = () => ({ signal: AbortSignal.timeout(TIMEOUT_MS) });
  return {
    async latest() {
      const answer = await answers.listBlocks?.({ path: {}, query: { type: 'block' } }, ask());
      return (answer?.body.items ?? []).map(blockOf);
    },
    async block(number) {
      const path = { block_number_or_hash: String(number) };
      const answer = await answers.getBlock?.({ path, query: {} }, ask()).catch(withoutMissing);
      return answer && blockOf(answer.body);
    },
    async transactionsOf({ kind, value }) {
      const path = { address_hash: value };
      if (kind === 'token') {
        const answer = await answers.listTransfersOfToken?.({ path, query: {} }, ask()).catch(withoutMissing);
        return (answer?.body.items ?? []).flatMap(ofTransaction);
      }
      const [transactions, transfers, calls] = await Promise.all([
        answers.listAddressTransactions?.({ path, query: {} }, ask()).catch(withoutMissing),
        answers.listAddressTokenTransfers?.({ path, query: {} }, ask()).catch(withoutMissing),
        answers.listAddressInternalTransactions?.({ path, query: {} }, ask()).catch(withoutMissing),
      ]);
      const sent = (transactions?.body.items ?? []).flatMap(({ hash, block_number: number }) =>
        number === null ? [] : [{ transactionHash: hash.toLowerCase(), blockNumber: number }],
      );
      const moved = [...(transfers?.body.items ?? []), ...(calls?.body.items ?? [])];
      return [...sent, ...moved.flatMap(ofTransaction)];
    },
    async inclusion(transactionHash) {
      const answer = await answers
        .getTransaction?.({ path: { transaction_hash: transactionHash }, query: {} }, ask())
        .catch(withoutMissing);
      if (answer === undefined) return undefined;
      const { block_number: blockNumber, result } = answer.body;
      if (blockNumber === null) return result === 'pending' ? 'pending' : undefined;
      return { blockNumber };
    },
  };
}

function blockOf(block: { height: number; hash: string; timestamp: string }): LiveBlock {
  const { height: number, hash, timestamp } = block;
  return { number, hash: hash.toLowerCase(), timestamp: Date.parse(timestamp) };
}

/** Nothing for a record whose block is not known. */
function ofTransaction(record: { transaction_hash: string; block_number: number | null }) {
  const { transaction_hash: hash, block_number: blockNumber } = record;
  return blockNumber === null ? [] : [{ transactionHash: hash.toLowerCase(), blockNumber }];
}

/** An address that a Blockscout has not seen yet is missing there. */
function withoutMissing(error: unknown): undefined {
  if (!isOfKind(error, 'not_found') && !isOfKind(error, 'unsupported')) throw error;
  return undefined;
}

/** A service of document 2, by its records. It knows no pending transactions and no internal ones. */
function insightsReads(chainId: number, records: NonNullable<InsightsAnswers['records']>): RemoteReads {
  const ask = () => ({ chainIds: [chainId], signal: AbortSignal.timeout(TIMEOUT_MS) });
  const newest = {
    sort: { field: 'block_number', order: 'desc' },
    limit: PAGE_SIZE,
    page: 0,
    decode: false,
  } as const;
  const since = (from: number): RecordsQuery['filters'] => [
    { field: 'block_number', operator: 'gte', value: BigInt(from) },
  ];
  return {
    latest: () => blocks([]),
    async block(number) {
      const [one] = await blocks([{ field: 'block_number', operator: 'eq', value: BigInt(number) }]);
      return one;
    },
    async transactionsOf({ kind, value, from }) {
      const filters = since(from);
      if (kind === 'address') {
        const found = await records({ ...newest, entity: 'transactions', filters, wallet: value }, ask());
        return recordValues(found.records).map(({ hash, block_number: blockNumber }) => ({
          transactionHash: hash.toLowerCase(),
          blockNumber,
        }));
      }
      const event = { topic0: TRANSFER };
      const found = await records({ ...newest, entity: 'events', filters, contract: value, event }, ask());
      return recordValues(found.records).flatMap(ofTransaction);
    },
    async inclusion(transactionHash) {
      const filters = [{ field: 'hash', operator: 'eq', value: transactionHash }] as const;
      const found = await records({ ...newest, entity: 'transactions', filters }, ask());
      const [row] = recordValues(found.records);
      return row === undefined ? undefined : { blockNumber: row.block_number };
    },
  };

  async function blocks(filters: RecordsQuery['filters']): Promise<LiveBlock[]> {
    const found = await records({ ...newest, entity: 'blocks', filters }, ask());
    return recordValues(found.records).map(block => ({
      number: block.block_number,
      hash: block.block_hash.toLowerCase(),
      timestamp: block.block_timestamp * 1_000,
    }));
  }
}
