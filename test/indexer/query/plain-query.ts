import type { FetchedBlock } from '#indexer/fetch/fetched-block.ts';
import type { RowsQuery } from '#indexer/query/query.ts';
import type { Entity, Filter } from '#query-model/row-selection.ts';
import type { FieldValues } from './opened-engine.ts';

/** Records of a chain in chain order, straight from the node's data. */
export function recordsOf(
  entity: Entity,
  { chainId, blocks }: { chainId: number; blocks: readonly FetchedBlock[] },
): FieldValues[] {
  switch (entity) {
    case 'blocks':
      return blocks.map(block => ({ chain_id: BigInt(chainId), ...place(block), ...blockValues(block) }));
    case 'transactions':
      return blocks.flatMap(block =>
        block.transactions.map((entry, position) => ({
          chain_id: BigInt(chainId),
          ...place(block),
          ...transactionValues(entry, position),
        })),
      );
    case 'events':
      return blocks.flatMap(block =>
        block.transactions.flatMap((entry, position) =>
          (entry.receipt?.logs ?? []).map(log => ({
            chain_id: BigInt(chainId),
            ...place(block),
            transaction_hash: entry.transaction.hash,
            transaction_index: BigInt(position),
            log_index: BigInt(log.logIndex),
            address: log.address,
            data: log.data,
            topic_0: log.topics[0] ?? null,
            topic_1: log.topics[1] ?? null,
            topic_2: log.topics[2] ?? null,
            topic_3: log.topics[3] ?? null,
          })),
        ),
      );
  }
}

const uint = (quantity: string | null | undefined) =>
  quantity === null || quantity === undefined ? null : BigInt(quantity);
const json = (list: readonly unknown[] | null | undefined) => (list?.length ? JSON.stringify(list) : null);

function place({ number, hash, block }: FetchedBlock): FieldValues {
  return { block_number: BigInt(number), block_hash: hash, block_timestamp: BigInt(block.timestamp) };
}

function blockValues({ block, transactions }: FetchedBlock): FieldValues {
  return {
    parent_hash: block.parentHash,
    nonce: block.nonce ?? null,
    sha3_uncles: block.sha3Uncles ?? null,
    mix_hash: block.mixHash ?? null,
    miner: block.miner ?? null,
    state_root: block.stateRoot,
    transactions_root: block.transactionsRoot ?? null,
    receipts_root: block.receiptsRoot ?? null,
    logs_bloom: block.logsBloom ?? null,
    size: uint(block.size),
    extra_data: block.extraData,
    difficulty: uint(block.difficulty),
    total_difficulty: uint(block.totalDifficulty),
    transaction_count: BigInt(transactions.length),
    gas_limit: uint(block.gasLimit),
    gas_used: uint(block.gasUsed),
    withdrawals_root: block.withdrawalsRoot ?? null,
    base_fee_per_gas: uint(block.baseFeePerGas),
  };
}

function transactionValues(
  { transaction, receipt }: FetchedBlock['transactions'][number],
  position: number,
): FieldValues {
  const price = uint(receipt?.effectiveGasPrice ?? transaction.gasPrice ?? '0x0');
  const isCall = typeof transaction.to === 'string' && transaction.input.length >= 10;
  return {
    hash: transaction.hash,
    nonce: uint(transaction.nonce),
    transaction_index: BigInt(position),
    from_address: transaction.from,
    to_address: transaction.to ?? null,
    value: uint(transaction.value),
    gas_price: price,
    gas: uint(transaction.gas),
    function_selector: isCall ? transaction.input.slice(0, 10) : '0x',
    data: transaction.input,
    max_fee_per_gas: uint(transaction.maxFeePerGas),
    max_priority_fee_per_gas: uint(transaction.maxPriorityFeePerGas),
    transaction_type: uint(transaction.type),
    r: uint(transaction.r),
    s: uint(transaction.s),
    v: uint(transaction.v),
    contract_address: receipt?.status === '0x0' ? null : (receipt?.contractAddress ?? null),
    gas_used: uint(receipt?.gasUsed),
    cumulative_gas_used: uint(receipt?.cumulativeGasUsed),
    effective_gas_price: price,
    blob_gas_used: uint(receipt?.blobGasUsed),
    blob_gas_price: uint(receipt?.blobGasUsed) ? uint(receipt?.blobGasPrice) : null,
    logs_bloom: receipt?.logsBloom ?? null,
    status: uint(receipt?.status),
    access_list_json: json(transaction.accessList),
    authorization_list_json: json(transaction.authorizationList),
  };
}

/** Reference result of a query without an index. `records` are in chain order. */
export function plainAnswer(records: readonly FieldValues[], query: RowsQuery) {
  const { filters, wallet, sort, limit, offset, countUpTo } = query;
  const matching = records.filter(
    record =>
      filters.every(filter => matches(record[filter.field] ?? null, filter)) &&
      (wallet === undefined || record.from_address === wallet || record.to_address === wallet),
  );
  const sign = sort.order === 'asc' ? 1 : -1;
  const sorted = matching
    .map((record, position) => ({ record, position }))
    .sort((left, right) => {
      const [a, b] = [left.record[sort.field] ?? null, right.record[sort.field] ?? null];
      if (a === b) return sign * (left.position - right.position);
      if (a === null || b === null) return a === null ? 1 : -1;
      return sign * (a < b ? -1 : 1);
    })
    .map(({ record }) => record);
  return {
    rows: sorted.slice(offset, offset + limit),
    total: Math.min(sorted.length, countUpTo),
    isCapped: sorted.length > countUpTo,
  };
}

function matches(value: bigint | string | null, { operator, value: wanted }: Filter): boolean {
  if (value === null) return false;
  const other = typeof value === 'bigint' ? BigInt(wanted) : String(wanted);
  switch (operator) {
    case 'eq':
      return value === other;
    case 'gte':
      return value >= other;
    case 'gt':
      return value > other;
    case 'lte':
      return value <= other;
    case 'lt':
      return value < other;
  }
}
