import { openMigrated } from '#db/migrate.ts';
import type { DatabaseOptions } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { blockRows } from '#indexer/decode/block.ts';
import { clean, type Dirty, nextFresh } from '#indexer/schema/dirty-state.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import type { OnChainState } from '#indexer/state/read-state.ts';
import { writeReadings } from '#indexer/state/state-writer.ts';
import { writeBlocks } from '#indexer/sync/block-writer.ts';
import { BUSY, NFT, syntheticBlock } from './synthetic-block.ts';

const BLOCKS_PER_COMMIT = 500;
/**
 * Below 1,000, because readings are deleted by a condition with one alternative each, and SQLite refuses 1,000 of them.
 */
const READINGS_PER_COMMIT = 500;

/** Fills an index through the indexer's own decoder and writers. Only the node is simulated. */
export async function writeSyntheticIndex(options: {
  database: DatabaseOptions;
  chainId: number;
  blocks: number;
}): Promise<void> {
  const { chainId, blocks } = options;
  const database = indexOptions(options.database, chainId);
  const db = await openMigrated(database, indexSchema(chainId, database));
  try {
    await transaction(db, handle => claimForChain(handle, chainId));
    for (let first = 0; first < blocks; first += BLOCKS_PER_COMMIT) {
      await transaction(db, async handle => {
        const count = Math.min(BLOCKS_PER_COMMIT, blocks - first);
        const numbers = Array.from({ length: count }, (_, offset) => first + offset);
        await writeBlocks(
          handle,
          numbers.map(number => blockRows(syntheticBlock(number))),
        );
      });
    }
    for (;;) {
      const entries = await nextFresh(db, READINGS_PER_COMMIT);
      if (entries.length === 0) break;
      await transaction(db, async handle => {
        await writeReadings(handle, entries.map(reading));
        await clean(handle, entries, Number.MAX_SAFE_INTEGER);
      });
    }
  } finally {
    await db.destroy();
  }
}

/** Simulated reading from a node. */
function reading({ kind, address, holder, tokenId }: Dirty): OnChainState {
  const digits = BigInt(`0x${address.slice(-8)}`);
  switch (kind) {
    case 'coin': {
      const isContract = address.startsWith('0x70') || address === NFT;
      return { kind, address, balance: 10n ** 18n + digits, isContract, implementation: null };
    }
    case 'token': {
      const name = address === NFT ? 'Cards' : `Token ${digits}`;
      return { kind, address, name, symbol: `T${digits}`, decimals: 18, totalSupply: 10n ** 24n };
    }
    case 'balance':
      return { kind, token: address, holder: holder === '' ? BUSY : holder, tokenId, value: 5n + digits };
    case 'instance':
      return { kind, token: address, tokenId, owner: BUSY };
  }
}
