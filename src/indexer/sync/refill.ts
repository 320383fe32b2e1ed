import type { Db } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import { ChainMoved } from '../../node/block-ref.ts';
import type { ChainClient } from '../../node/client.ts';
import { type BlockRows, blockRows } from '../decode/block.ts';
import type { ChainProofs } from '../fetch/chain-proofs.ts';
import { blockFetcher } from '../fetch/fetch-blocks.ts';
import { judgedBy, receiverCode } from '../fetch/receiver-code.ts';
import { innermostReason } from '../fetch/unreadable.ts';
import { hashAt } from '../schema/head.ts';
import { select } from '../schema/select.ts';
import {
  nextUnread,
  postponeBlock,
  type UnreadBlock,
  type UnreadParts,
  unreadBlock,
} from '../schema/unread-blocks.ts';
import type { WriterLease } from '../schema/writer-lease.ts';
import { writeLaterParts } from './parts-writer.ts';

interface RefillDeps {
  db: Db;
  lease: Pick<WriterLease, 'isHeld' | 'write'>;
  client: ChainClient;
  proofs: ChainProofs;
  clock: Clock;
  log: Logger;
  confirmations: number;
  /** Called after parts were written. */
  onChange: () => Promise<void>;
}

/** Pause between two looks for missing parts that are due. */
const PAUSE_MS = 5_000;
/** Pause after an attempt, as a multiple of its time: large answers must not keep the node busy. */
const SHARE = 9;

/**
 * Creates the worker that asks again for missing parts, one block at a time. It runs next to the sync of new blocks,
 * which need not wait for it.
 */
export function refilling(deps: RefillDeps) {
  const once = refillOnce(deps);
  let lastMs = 0;
  const worker: Worker = {
    name: `missing parts of the index of chain ${deps.client.id}`,
    async runOnce() {
      if (!deps.lease.isHeld()) return 0;
      const startedAt = performance.now();
      try {
        return await once();
      } finally {
        lastMs = performance.now() - startedAt;
      }
    },
  };
  return { once, worker, pauseMs: () => Math.max(PAUSE_MS, lastMs * SHARE) };
}

/**
 * Returns a function that asks again for the missing parts of one block that is due. It resolves with the number of
 * blocks that gained a part.
 */
function refillOnce(deps: RefillDeps): () => Promise<number> {
  const { db, lease, client, clock, log } = deps;
  const { write } = lease;
  // A block behind the head neither holds up the sync nor says whether new blocks can be proven.
  const proofs: ChainProofs = {
    ...deps.proofs,
    accept: (_, { kind }) => kind === 'proven',
    refuse: () => {},
  };

  async function read(number: number): Promise<BlockRows> {
    // Nothing is remembered between two attempts: the chain may have been reorganised.
    const code = receiverCode(client);
    const { body, complete } = blockFetcher({ client, code, proofs, log });
    const fetched = await complete(await body(number));
    const [judged] = await judgedBy(code, { blocks: [fetched], chainId: client.id });
    if (judged === undefined) throw new ChainMoved(number);
    return blockRows(judged);
  }

  async function retryLater(block: UnreadBlock, reason: string): Promise<number> {
    log.debug({ chainId: client.id, block: block.number, reason }, 'parts of a block are still missing');
    await write(handle => postponeBlock(handle, block, { now: clock.now(), reason }));
    return 0;
  }

  /** False when the block has left the chain, or changed since it was read. */
  function writeParts(rows: BlockRows): Promise<boolean> {
    return write(async handle => {
      const before = await unreadBlock(handle, rows.number);
      const hash = await hashAt(handle, rows.number);
      if (before === null || hash !== rows.hash) return false;
      await writeLaterParts(handle, { rows, before, confirmations: deps.confirmations });
      return true;
    });
  }

  return async () => {
    const block = await nextUnread(db, clock.now());
    if (block === null) return 0;
    const { number } = block;
    let rows: BlockRows;
    try {
      rows = await read(number);
    } catch (error) {
      // The sync of new blocks reports a node that is away.
      return retryLater(block, innermostReason(error));
    }
    if (!hasGained(block, rows.unread) || (await hasLost(db, { block, rows })))
      return retryLater(block, rows.unread?.reason ?? block.reason);
    if (!(await writeParts(rows))) return retryLater(block, 'the block changed while it was being read');
    log.info({ chainId: client.id, block: number, unread: rows.unread }, 'parts of a block arrived');
    await deps.onChange();
    return 1;
  };
}

const KINDS = ['receipts', 'traces', 'codes'] as const;

/** True when fewer transactions lack some part, and none of the parts has become rarer. */
function hasGained(before: UnreadParts, now: UnreadParts | null): boolean {
  const changes = KINDS.map(kind => (now?.[kind] ?? 0) - before[kind]);
  return changes.every(change => change <= 0) && changes.some(change => change < 0);
}

/** True when the block is not proven any more, or has no traces any more. */
async function hasLost(
  db: Db,
  { block: { number, traces }, rows }: { block: UnreadBlock; rows: BlockRows },
): Promise<boolean> {
  const [stored] = await select({ from: 'blocks', columns: ['internal_transaction_count', 'proven'] }).rows(
    db,
    'where number = ?',
    [number],
  );
  const wasProven = stored?.proven === 1;
  const wasTraced = traces > 0 || (stored !== undefined && stored.internal_transaction_count !== null);
  const isProven = rows.rows.blocks.some(({ proven }) => proven === 1);
  return (wasProven && !isProven) || (wasTraced && isUntraced(rows));
}

/** True for a block that was read from a node that seems to have no traces at all, which counts none as missing. */
function isUntraced({ rows, unread }: BlockRows): boolean {
  return rows.blocks.some(block => block.internal_transaction_count === null) && (unread?.traces ?? 0) === 0;
}
