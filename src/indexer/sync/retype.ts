import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { type CodeTrail, trailOf } from '../fetch/code-trail.ts';
import type { ReceiverCode } from '../fetch/receiver-code.ts';
import { olderBlocks, readOlderBlocks, writeTypes } from './older-types.ts';

/** Blocks of one step. A run takes one step, so that new blocks do not wait. */
const STEP = 200;

/**
 * Judges the next transactions that an earlier version indexed, oldest first, as new ones are judged (Decision 181).
 * `code` is kept from step to step and used for nothing else.
 */
export async function retypeOlder({
  db,
  code,
  chainId,
}: {
  db: Db;
  code: ReceiverCode;
  chainId: number;
}): Promise<void> {
  const range = await olderBlocks(db);
  if (range === null) return;
  const to = Math.min(range.from + STEP, range.to);
  const blocks = await readOlderBlocks(db, { from: range.from, to });
  const trails: CodeTrail[] = [];
  for (const block of blocks) trails.push(await trailOf(block, chainId));
  const withCode = await code.withCode(trails);
  const judged = blocks.flatMap(({ transactions }, at) =>
    transactions.map(({ id, to: receiver }) => ({
      id,
      isCall: receiver !== null && withCode[at]?.has(receiver) === true,
    })),
  );
  const idsOf = (isCall: boolean) => judged.filter(one => one.isCall === isCall).map(({ id }) => id);
  await transaction(db, handle => writeTypes(handle, { to, calls: idsOf(true), others: idsOf(false) }));
}
