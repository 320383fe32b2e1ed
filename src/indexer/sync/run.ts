import type { Hash } from 'viem';
import type { Db } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { ChainMoved } from '../../node/block-ref.ts';
import type { ChainClient } from '../../node/client.ts';
import { type BlockRows, blockRows } from '../decode/block.ts';
import type { ChainProofs } from '../fetch/chain-proofs.ts';
import { type BlockFetcher, blockFetcher } from '../fetch/fetch-blocks.ts';
import { fetchInOrder } from '../fetch/fetch-window.ts';
import type { BlockHeader, FetchedBlock } from '../fetch/fetched-block.ts';
import { judgedBy, receiverCode } from '../fetch/receiver-code.ts';
import { firstNumber, type Head, hashAt, readHead } from '../schema/head.ts';
import { setAside } from '../schema/unread-blocks.ts';
import type { IndexWrite } from '../schema/writer-lease.ts';
import { writeBlocks } from './block-writer.ts';
import { unwind } from './reorganisation.ts';

/** Attempts per run. A chain that keeps changing is left to the next run. */
const MAX_ATTEMPTS = 5;

/**
 * Consecutive runs after which a lower head on our chain is believed. Until then the node may only lag behind, for
 * example when several nodes share one address.
 */
const BELIEVE_BACKWARD_AFTER = 3;

/**
 * A node further behind than this on our chain is not followed, because it is syncing from scratch. If its chain had
 * really gone back that far, its first differing block would show it.
 */
const BELIEVE_BACKWARD_DEPTH = 64;

interface SyncDeps {
  db: Db;
  write: IndexWrite;
  client: ChainClient;
  proofs: ChainProofs;
  clock: Clock;
  log: Logger;
  /** Depth at which a block counts as final. A deeper reorganisation starts a new epoch. */
  confirmations: number;
  fromBlock: number;
  /** Called after each visible change: blocks written or unwound. */
  onChange: () => Promise<void>;
  onNodeHead: (number: number) => void;
}

/**
 * Returns a function that syncs the index to the node's current head and resolves with the number of blocks written.
 */
export function syncRun(deps: SyncDeps): (signal?: AbortSignal) => Promise<number> {
  const { db, write, client, proofs, log, onNodeHead } = deps;
  const code = receiverCode(client);
  const fetcher = blockFetcher({ client, code, proofs, log });
  let backwardSightings = 0;

  async function runOnce(signal?: AbortSignal): Promise<number> {
    await client.verify();
    let written = 0;
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const step = await advance(signal);
        written += step.written;
        if (step.isDone) break;
      }
    } finally {
      // Runs even if a later step failed, because readers already see what was written or unwound.
      await deps.onChange();
    }
    return written;
  }

  async function advance(signal: AbortSignal | undefined): Promise<{ written: number; isDone: boolean }> {
    const nodeHead = await fetcher.header('latest');
    if (nodeHead === null) return { written: 0, isDone: true };
    onNodeHead(nodeHead.number);
    const head = await readHead(db);
    if (head !== null && nodeHead.number <= head.number) {
      if (!(await hasLeftUs(nodeHead, head))) return { written: 0, isDone: true };
      await goBack(head, nodeHead.number);
      return { written: 0, isDone: false };
    }
    backwardSightings = 0;
    // While a chain waits for a block that fits its hash, no later ones are fetched.
    const awaited = proofs.waiting(head?.number ?? -1);
    const to = Math.min(awaited?.number ?? nodeHead.number, nodeHead.number);
    const { written, isDone } = await writeUpTo({ head, to, signal });
    return { written, isDone: isDone && (to === nodeHead.number || written === 0) };
  }

  /** True when a node whose head is not above ours is on another branch, or has rolled back on ours. */
  async function hasLeftUs(nodeHead: BlockHeader, head: Head): Promise<boolean> {
    const ours = await hashAt(db, nodeHead.number);
    if (ours !== null && ours !== nodeHead.hash) return true;
    const depth = head.number - nodeHead.number;
    backwardSightings = depth === 0 ? 0 : backwardSightings + 1;
    return ours !== null && depth <= BELIEVE_BACKWARD_DEPTH && backwardSightings >= BELIEVE_BACKWARD_AFTER;
  }

  async function writeUpTo({
    head,
    to,
    signal,
  }: {
    head: Head | null;
    to: number;
    signal: AbortSignal | undefined;
  }) {
    const from = head === null ? deps.fromBlock : head.number + 1;
    let written = 0;
    let parent = head?.hash ?? null;
    try {
      for await (const chunk of fetchInOrder(fetcher, { from, to })) {
        const linked = linkedTo(parent, chunk);
        for (const blocks of inCommits(
          (await judgedBy(code, { blocks: linked, chainId: client.id })).values().map(blockRows),
        )) {
          if (signal?.aborted === true) return { written, isDone: true };
          await write(async handle => {
            await writeBlocks(handle, blocks);
            await setAside(handle, blocks, deps.clock.now());
          });
          written += blocks.length;
        }
        if (linked.length < chunk.length) {
          const ours = await readHead(db);
          if (ours !== null) await goBack(ours, ours.number);
          return { written, isDone: false };
        }
        parent = linked.at(-1)?.hash ?? parent;
        // During a long run, readers see the progress.
        if (to - from > chunk.length) await deps.onChange();
      }
    } catch (error) {
      if (!(error instanceof ChainMoved)) throw error;
      code.forget();
      log.debug({ err: error, chainId: client.id }, 'the chain moved while it was being read');
      return { written, isDone: false };
    }
    return { written, isDone: true };
  }

  async function goBack(head: Head, from: number): Promise<void> {
    code.forget();
    const ancestor = await commonAncestor(db, fetcher, Math.min(from, head.number));
    if (ancestor >= head.number) return;
    const depth = head.number - ancestor;
    const { isDeep } = await write(handle => unwind(handle, { ancestor, confirmations: deps.confirmations }));
    log.warn({ chainId: client.id, depth, ancestor, isDeep }, 'reorganisation');
  }

  return runOnce;
}

/** Leading blocks that link to their predecessor; the first one links to `parent`. */
function linkedTo(parent: Hash | null, blocks: readonly FetchedBlock[]): readonly FetchedBlock[] {
  const end = blocks.findIndex(({ block }, index) => {
    const before = blocks[index - 1]?.hash ?? parent;
    return before !== null && block.parentHash !== before;
  });
  return end < 0 ? blocks : blocks.slice(0, end);
}

/**
 * Height of the highest block that the index and the node share, at most `from`. One below the first indexed block when
 * there is none.
 */
async function commonAncestor(db: Db, fetcher: BlockFetcher, from: number): Promise<number> {
  const first = await firstNumber(db);
  if (first === null) return from;
  for (let number = from; number >= first; number -= 1) {
    const [ours, theirs] = await Promise.all([hashAt(db, number), fetcher.header(number)]);
    if (ours !== null && ours === theirs?.hash) return number;
  }
  return first - 1;
}

/** Maximum rows per commit. This many take about 20 ms, during which the process does nothing else. */
const ROWS = 700;

/**
 * Groups blocks into transactions: several small blocks or one large one. A commit costs as much as writing many rows.
 */
function* inCommits(blocks: Iterable<BlockRows>): Generator<BlockRows[]> {
  let together: BlockRows[] = [];
  let rows = 0;
  for (const block of blocks) {
    const more = rowsOf(block);
    if (together.length > 0 && rows + more > ROWS) {
      yield together;
      together = [];
      rows = 0;
    }
    together.push(block);
    rows += more;
  }
  if (together.length > 0) yield together;
}

function rowsOf({ rows }: BlockRows): number {
  return Object.values(rows).reduce((sum, list) => sum + list.length, 0);
}
