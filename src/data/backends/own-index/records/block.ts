import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import { amount, percentage, timestamp } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';

type Block = ExplorerSchemas['Block'];

/** A block aims at half of its gas limit (EIP-1559, elasticity multiplier). */
const ELASTICITY = 2n;
/** What a header holds since the merge (EIP-3675); some rollups leave it out. */
const NO_NONCE = '0x0000000000000000';

/** One block with its fees summed up. Percentages have four decimals. */
export function blockRecord(row: BlockRow, parties: Parties): Block {
  const target = row.gasLimit / ELASTICITY;
  const hasBaseFee = row.baseFeePerGas !== null;
  return {
    base_fee_per_gas: amount(row.baseFeePerGas),
    burnt_fees: amount(row.burntFees),
    burnt_fees_percentage: row.burntFees === null ? null : percentage(row.burntFees, row.transactionFees),
    difficulty: row.difficulty.toString(),
    extra_data: row.extraData,
    gas_limit: row.gasLimit.toString(),
    gas_target_percentage: hasBaseFee ? percentage(row.gasUsed - target, target) : null,
    gas_used: row.gasUsed.toString(),
    gas_used_percentage: percentage(row.gasUsed, row.gasLimit),
    hash: row.hash,
    height: row.number,
    miner: parties.address(row.miner),
    nonce: row.nonce ?? NO_NONCE,
    parent_hash: row.parentHash,
    priority_fee: hasBaseFee ? row.priorityFees.toString() : null,
    rewards: rewardsOf(row),
    size: row.size,
    state_root: row.stateRoot,
    timestamp: timestamp(row.timestamp),
    total_difficulty: amount(row.totalDifficulty),
    transaction_count: row.transactionCount,
    transaction_fees: row.transactionFees.toString(),
    type: row.isCanonical ? 'block' : 'reorg',
    uncles_hashes: row.unclesHashes,
    withdrawals_count: row.withdrawalsCount,
  };
}

/** Decision 22: after the merge the miner earns the priority fees; issuance before it is not in the block. */
function rewardsOf({ number, difficulty, priorityFees }: BlockRow): Block['rewards'] {
  return number > 0 && difficulty === 0n ? [{ reward: priorityFees, type: 'Miner Reward' }] : [];
}
