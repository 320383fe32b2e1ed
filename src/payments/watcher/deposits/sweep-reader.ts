import { BaseError, numberToHex } from 'viem';
import { type LoggedSweep, sweepsIn } from '#deposits/swept-logs.ts';
import { depositAddressStore } from '../../deposits/deposit-address-store.ts';
import { depositSums } from '../../deposits/deposit-sums.ts';
import { sweepStore } from '../../deposits/sweep-store.ts';
import type { DepositSweep } from '../../model/recipient.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { RecordedBlock } from '../../store/chain-records.ts';
import { cursorStore } from '../../store/cursor-store.ts';
import { changeInParts, confirmationsOf, type Look } from '../look/look.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { slices } from '../node/node-view.ts';
import { DEEPEST_REORGANISATION } from '../node/scanned-blocks.ts';
import { MissingState } from './missing-state.ts';

/** Number of the last block before a time, in UTC milliseconds. */
export type BlockBefore = (look: Look, time: number) => Promise<number>;

/** Blocks of one request, and requests of one run. */
const BLOCKS_PER_REQUEST = 1_000;
const REQUESTS_PER_RUN = 20;
/** Blocks that are read again, because lagging nodes may return incomplete logs. */
export const BLOCKS_AGAIN = 12;
/** Most sweeps that are remembered, so that those of blocks that are read again are not recorded again. */
const REMEMBERED = 10_000;
/** Addresses that one statement asks about. Anyone can sweep, and every installation has the same factory. */
const ADDRESSES_AT_A_TIME = 500;

/**
 * Records the sweeps of a chain's deposit addresses, of open checkouts and of ended ones. Only confirmed blocks are read
 * (Decision 400), and a deeper reorganisation is noticed (Decision 481). One request reads the sweeps of all addresses of a factory, theirs and ours: it costs
 * the same for any number of addresses.
 */
export function sweepReader({ lastBlockBefore }: { readonly lastBlockBefore: BlockBefore }) {
  let last: number | undefined;
  /** Blocks of the next request. A failed one is followed by one for fewer. */
  let blocks = BLOCKS_PER_REQUEST;
  const recorded = new Set<string>();
  /** The latest blocks with recorded sweeps; undefined before they were read. */
  let placed: RecordedBlock[] | undefined;

  async function firstBlock(look: Look): Promise<number> {
    const oldest = await depositAddressStore(look.db).oldest(look.chain.id);
    if (oldest === undefined) return look.head.number;
    return lastBlockBefore(look, oldest - LIFE_ALLOWANCE.beforeMs);
  }

  function readRange(look: Look, range: { readonly from: number; readonly to: number }) {
    const forwarders = () => depositAddressStore(look.db).ofChain(look.chain.id, ADDRESSES_AT_A_TIME);
    return look.view.askRaw(async ({ raw, node }) => {
      const [end, sweeps] = await Promise.all([
        raw({ method: 'eth_getBlockByNumber', params: [numberToHex(range.to), false] }),
        sweepsIn({ raw, forwarders }, range),
      ]);
      // A node that lacks the last block lacks the sweeps near it.
      if (end === null) throw new MissingState(node.host, range.to);
      return sweeps;
    });
  }

  /**
   * Removes sweeps whose block was replaced, in the latest blocks, and reads these blocks again. Confirmed blocks are replaced
   * seldom, but a sweep that never was would look like money that came.
   */
  async function dropReplaced(look: Look, read: number): Promise<number> {
    const { chain, db, head } = look;
    const since = head.number - DEEPEST_REORGANISATION;
    placed ??= await sweepStore(db).blocksFrom(chain.id, since);
    placed = placed.filter(({ blockNumber }) => (blockNumber ?? 0) >= since);
    const { gone } = await canonicalRows(placed, look);
    if (gone.length === 0) return read;
    await look.effect('record', async ({ handle }) => {
      for (const block of gone) {
        const addresses = await sweepStore(handle).removeIn(chain.id, block);
        await depositSums(handle).recount(chain.id, addresses);
      }
    });
    placed = placed.filter(one => !gone.includes(one));
    recorded.clear();
    last = Math.min(read, ...gone.map(({ blockNumber }) => (blockNumber ?? 0) - 1));
    const facts = { chainId: chain.id, blocks: gone.map(({ blockNumber }) => blockNumber) };
    look.log.warn(facts, 'sweeps of confirmed blocks were dropped by a reorganisation');
    return last;
  }

  return {
    /** Block up to which all were recorded, before anything is read; undefined when none is known. */
    upTo: ({ progress }: Look): number | undefined => last ?? progress?.sweptBlock,
    /** Reads up to the last confirmed block. `upTo` is the block up to which all are recorded. */
    async read(look: Look): Promise<{ readonly upTo: number; readonly changes: number }> {
      const { chain, head, progress } = look;
      const to = head.number - chain.confirmations;
      let read = await dropReplaced(look, last ?? progress?.sweptBlock ?? (await firstBlock(look)));
      let changes = 0;
      for (let count = 0; count < REQUESTS_PER_RUN && read < to; count++) {
        const from = Math.max(0, read + 1 - BLOCKS_AGAIN);
        const range = { from, to: Math.min(to, read + blocks) };
        const logged = await readRange(look, range).catch(error => {
          blocks = Math.max(1, Math.floor(blocks / 4));
          throw error;
        });
        blocks = Math.min(BLOCKS_PER_REQUEST, 2 * blocks);
        const fresh = logged.filter(one => !recorded.has(keyOf(one)));
        const ours = await record(look, fresh, range.to);
        changes += ours.added;
        placed?.push(...ours.blocks);
        if (recorded.size > REMEMBERED) recorded.clear();
        for (const one of fresh) recorded.add(keyOf(one));
        read = range.to;
        last = read;
        look.note({ sweptBlock: read });
      }
      return { upTo: read, changes };
    },
    forget(): void {
      last = undefined;
      placed = undefined;
      recorded.clear();
    },
  };
}

function keyOf({ txHash, logIndex, blockHash }: LoggedSweep): string {
  return `${txHash} ${logIndex} ${blockHash}`;
}

/** Records those of our addresses, with the progress. Returns the number of new ones, and the blocks of all. */
async function record(
  look: Look,
  logged: readonly LoggedSweep[],
  sweptBlock: number,
): Promise<{ readonly added: number; readonly blocks: RecordedBlock[] }> {
  const { chain, db } = look;
  const ours: LoggedSweep[] = [];
  for (const some of slices(logged, ADDRESSES_AT_A_TIME)) {
    const addresses = some.map(one => one.address);
    const issued = await depositAddressStore(db).findMany(addresses);
    ours.push(...some.filter(one => issued.get(one.address)?.chainId === chain.id));
  }
  if (ours.length === 0) return { added: 0, blocks: [] };
  const headers = await look.view.headers(ours.map(one => one.blockNumber));
  const sweeps = ours.map((one): DepositSweep => {
    const header = headers.get(one.blockNumber);
    if (header?.hash !== one.blockHash || confirmationsOf(one, look) < chain.confirmations)
      throw new BaseError(`Block ${one.blockNumber} changed while its sweeps were read.`);
    return { ...one, chainId: chain.id, blockTime: header.time };
  });
  const parts = { name: 'record', rows: sweeps } as const;
  const added = await changeInParts(look, parts, async (part, { handle, settle }, isLast) => {
    const count = await settle.recordSweeps(part);
    if (isLast) await cursorStore(handle).keep(chain.id, { sweptBlock });
    return count;
  });
  const blocks = new Map(sweeps.map(({ blockNumber, blockHash }) => [blockHash, { blockNumber, blockHash }]));
  return { added: added.reduce((sum, count) => sum + count, 0), blocks: [...blocks.values()] };
}
