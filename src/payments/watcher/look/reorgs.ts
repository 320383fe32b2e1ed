import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { isOfContract } from '../../model/transfer.ts';
import { droppedTransfers } from '../../settlement/transfer-decisions.ts';
import { type RecordedBlock, settledBlocks } from '../../store/chain-records.ts';
import { setAsideStore } from '../../store/set-aside-store.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { watchedPayments } from '../../store/watched-payments.ts';
import { type HashLookup, lookUp, transfersIn } from '../node/by-hash.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { DEEPEST_REORGANISATION } from '../node/scanned-blocks.ts';
import { takeBack } from './completions.ts';
import { changeInParts, type Look, type TracedCheck } from './look.ts';
import { record } from './record.ts';
import { inRotation } from './turns.ts';

type SettledRow = Pick<PaymentTransaction, 'id' | 'txHash' | 'logIndex'>;

/** Most blocks that are gone, and most transactions of them, that one look checks. */
const BLOCKS_PER_LOOK = 200;
const TRANSACTIONS_PER_LOOK = 200;

/** Result of checking settled payments against the chain. */
export interface ReorgCheck {
  /** Number of payments and transfers that the chain no longer has. */
  readonly lost: number;
  /** False when a block was gone or the node could not answer for one, so that the next look checks again. */
  readonly isCertain: boolean;
}

/** First block whose payments are checked again. */
export function firstWatchedBlock({ chain, head, progress }: Look): number {
  const settledBlock = progress?.settledBlock ?? head.number;
  return Math.min(settledBlock, head.number) - Math.max(DEEPEST_REORGANISATION, 2 * chain.confirmations);
}

/**
 * Checks settled payments and transfers again, in the latest blocks and around the block where this check last
 * succeeded: the chain may have dropped a payment while no watcher ran. A payment whose block is gone moves to the
 * block that has it now. Without such a block, it fails once the chain has grown beyond the required depth.
 */
export async function watchReorganisations(look: Look, hasTraced: TracedCheck): Promise<ReorgCheck> {
  const { chain, view, head, db, watched, coinLogsFrom, log, note } = look;
  const since = firstWatchedBlock(look);
  const blocks = await canonicalRows(await settledBlocks(db, chain.id, since), { view, head });
  const isCertain = blocks.unknown.length === 0;
  if (blocks.gone.length === 0) {
    // Later checks begin near the settled block, so it advances only when the node answered for every block.
    if (isCertain) note({ settledBlock: head.number });
    return { lost: 0, isCertain };
  }

  const gone = blocks.gone.slice(0, BLOCKS_PER_LOOK);
  const dropped = await dropUnsettled(look, gone);
  const completedIn = () => watchedPayments(db).completedIn(chain.id, gone);
  const openIn = () => transferStore(db).openIn(chain.id, gone);
  const payments = await completedIn();
  const transfers = (await openIn()).filter(one => one.confirmedAt !== null);
  const hashes = [...new Set([...payments, ...transfers].flatMap(one => one.txHash ?? []))];
  // With each head others come first: some may stay unanswered.
  const asked = inRotation(hashes, head.number).slice(0, TRANSACTIONS_PER_LOOK);
  const found = await lookUp(asked, { view, head });
  // The address of an ended checkout is not watched any more, and its payments are judged all the same.
  const recipients = new Set([...payments, ...transfers].map(addressKey));
  const isJudged = (tokenAddress: string, recipient: string) =>
    recipients.has(addressKey({ tokenAddress, recipient })) || watched.has(tokenAddress, recipient);
  const wanted = { chainId: chain.id, watched: { has: isJudged }, coinLogsFrom };
  const elsewhere = [...found.values()].flatMap(one => transfersIn(one, wanted));
  if (elsewhere.length > 0) {
    await record(look, { transfers: elsewhere, repriced: new Map(), cursor: undefined });
  }
  // Rows that are back in a block have been moved there by now. A hash that the node did not answer for may be back
  // too.
  const left = new Set([...(await completedIn()), ...(await openIn())].map(({ id }) => id));
  const untraced = await untracedHashes(look, { found, hasTraced });
  const isLost = ({ id, txHash, logIndex }: SettledRow) =>
    txHash !== null && found.has(txHash) && left.has(id) && !(isOfContract(logIndex) && untraced.has(txHash));

  const lost = payments.filter(
    one => isLost(one) && head.number > (one.blockNumber ?? head.number) + one.requiredConfirmations,
  );
  await changeInParts(look, { name: 'reorgs', rows: lost }, async (part, { settle, breathe }) => {
    for (const one of part) {
      await settle.reorg(one.id, one.blockHash);
      await breathe();
    }
  });
  if (lost.length > 0)
    log.error({ transactions: lost.map(one => one.id) }, 'completed payments were lost in a reorganisation');
  const unlisted = transfers.filter(isLost);
  await changeInParts(look, { name: 'reorgs', rows: unlisted }, (part, { handle }) =>
    droppedTransfers(handle).drop(part),
  );
  return { lost: dropped + lost.length + unlisted.length, isCertain: false };
}

function addressKey({
  tokenAddress,
  recipient,
}: Pick<PaymentTransaction, 'tokenAddress' | 'recipient'>): string {
  return `${tokenAddress} ${recipient}`;
}

/** Transactions that are in a block again whose traces are not read: coins that contracts sent may be in them. */
async function untracedHashes(
  look: Look,
  { found, hasTraced }: { found: ReadonlyMap<string, HashLookup>; hasTraced: TracedCheck },
): Promise<ReadonlySet<string>> {
  const untraced = new Set<string>();
  for (const [hash, { mined }] of found) {
    if (mined !== undefined && !(await hasTraced(look, mined.header))) untraced.add(hash);
  }
  return untraced;
}

/**
 * Drops payments and transfers in confirmation with their blocks, also those that are set aside for a day. Returns their
 * number.
 */
async function dropUnsettled(look: Look, gone: readonly RecordedBlock[]): Promise<number> {
  const { chain, db } = look;
  const name = 'reorgs';
  const hashes = gone.flatMap(({ blockHash }) => blockHash ?? []);
  const payments = await watchedPayments(db).confirmingIn(chain.id, hashes, TRANSACTIONS_PER_LOOK);
  const transfers = await transferStore(db).unconfirmedIn(chain.id, hashes, TRANSACTIONS_PER_LOOK);
  const count = payments.length + transfers.length;
  if (count === 0) return 0;
  if (payments.length > 0) await takeBack(look, { name, rows: payments });
  await changeInParts(look, { name, rows: transfers }, (part, { handle }) =>
    droppedTransfers(handle).drop(part),
  );
  await look.effect(name, ({ handle }) => setAsideStore(handle).removeUnused());
  return count;
}
