import { depositAddressStore } from '../../deposits/deposit-address-store.ts';
import type { Owner } from '../../model/owner.ts';
import type { DepositAddress } from '../../model/recipient.ts';
import type { OwnedTransfer, Transfer } from '../../model/transfer.ts';
import { recipientStore } from '../../recipients/recipient-store.ts';
import { payableTransfers } from '../../sessions/payable-transfers.ts';
import { LATE_PAYMENT_MS, paidAddressOf } from '../../settlement/match.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { type RecordedPayment, watchedPayments } from '../../store/watched-payments.ts';
import { slices } from '../node/node-view.ts';
import { breather, type Look } from './look.ts';

/** A transfer that may pay a session, or that a recorded payment may have moved to. */
export interface Candidate {
  readonly transfer: Transfer;
  /** Owner of the recipient; undefined when no organization lists it any more. */
  readonly owner: Owner | undefined;
  /** True when a recorded payment may be this transfer. */
  readonly isKnown: boolean;
  /** True when its transaction has a recorded payment in another block. */
  readonly isMoved: boolean;
  /** True when it is kept as an unmatched transfer of its block. */
  readonly isRecorded: boolean;
}

/** Transfers by the work that they need. */
export interface SortedTransfers {
  /** Recorded for good, or sweeps of deposit addresses. */
  readonly done: readonly Transfer[];
  readonly candidates: readonly Candidate[];
  /** Not kept yet, and no session can be paid by them now. */
  readonly unpayable: readonly OwnedTransfer[];
  /** The same, but kept already, or of no organization. */
  readonly idle: readonly Transfer[];
}

/** Transfers that one statement asks about. */
const TRANSFERS_AT_A_TIME = 2_000;

/**
 * Sorts transfers by what the database knows of them. It reads in bulk and outside of a transaction: of thousands of
 * small transfers, the few that can pay a session are found without matching each of them. A session that opens
 * meanwhile finds its transfer at the next look.
 */
export async function sortTransfers(
  { chain, db }: Look,
  { transfers, repriced }: { transfers: readonly Transfer[]; repriced: ReadonlyMap<string, string> },
): Promise<SortedTransfers> {
  const breathe = breather();
  const done: Transfer[] = [];
  const candidates: Candidate[] = [];
  const unpayable: OwnedTransfer[] = [];
  const idle: Transfer[] = [];
  const owners = await recipientStore(db).ownersOf(
    chain.id,
    transfers.map(one => one.recipient),
  );
  for (const some of slices(transfers, TRANSFERS_AT_A_TIME)) {
    const payments = recordedPayments(await watchedPayments(db).recorded(chain.id, hashesOf(some)), some);
    const kept = new Map(
      (await transferStore(db).keptOf(chain.id, some)).map(one => [logKeyOf(one), one] as const),
    );
    const ends = some.flatMap(({ sender, recipient }) => [sender, recipient]);
    const deposits = await depositAddressStore(db).findMany(ends);
    const open: Transfer[] = [];
    for (const one of some) {
      const known = kept.get(logKeyOf(one));
      const isListed = known?.blockHash === one.blockHash && known.confirmedAt !== null;
      // A sweep pays nothing: its money came to the merchant when it came to the deposit address.
      const isSweep = deposits.has(one.sender);
      (isSweep || isListed || payments.has(one) ? done : open).push(one);
    }
    await breathe();
    const payable = await payableOf(db, open);
    for (const transfer of open) {
      const owner = owners.get(transfer.recipient) ?? ownerOn(chain.id, deposits.get(transfer.recipient));
      const isRecorded = kept.get(logKeyOf(transfer))?.blockHash === transfer.blockHash;
      const isKnown = payments.mayHave(transfer);
      if (isKnown || payable.has(transfer) || repriced.has(transfer.txHash)) {
        candidates.push({ transfer, owner, isKnown, isMoved: payments.isMoved(transfer), isRecorded });
      } else if (!isRecorded && owner !== undefined) {
        unpayable.push({ transfer, owner });
      } else {
        idle.push(transfer);
      }
    }
    await breathe();
  }
  return { done, candidates, unpayable, idle };
}

/** Owner of a deposit address that was issued for this chain. */
function ownerOn(chainId: number, deposit: DepositAddress | undefined): Owner | undefined {
  if (deposit?.chainId !== chainId) return undefined;
  const { organizationId, mode } = deposit;
  return { organizationId, mode };
}

function hashesOf(transfers: readonly Transfer[]): string[] {
  return [...new Set(transfers.map(({ txHash }) => txHash))];
}

/** Recorded payments of some transactions, compared with the transfers that the chain has now. */
export function recordedPayments(rows: readonly RecordedPayment[], transfers: readonly Transfer[]) {
  const blocks = new Map(transfers.map(one => [one.txHash, one.blockHash]));
  const byLog = new Map(rows.flatMap(row => (row.logIndex === null ? [] : [[logKeyOf(row), row]])));
  const elsewhere = rows.filter(row => row.logIndex === null || row.blockHash !== blocks.get(row.txHash));
  const paidElsewhere = new Set(elsewhere.map(paymentOf));
  const moved = new Set(elsewhere.flatMap(row => (row.logIndex === null ? [] : row.txHash)));

  return {
    /** True when the transfer is recorded, in this block. */
    has(transfer: Transfer): boolean {
      const row = byLog.get(logKeyOf(transfer));
      return row?.blockHash === transfer.blockHash && paymentOf(row) === paymentOf(transfer);
    },
    /** True when another one is recorded at its log index, or the same one at another. */
    mayHave: (transfer: Transfer): boolean =>
      byLog.has(logKeyOf(transfer)) || paidElsewhere.has(paymentOf(transfer)),
    isMoved: ({ txHash }: Transfer): boolean => moved.has(txHash),
  };
}

function paymentOf({
  txHash,
  tokenAddress,
  sender,
  recipient,
  amount,
}: Omit<RecordedPayment, 'blockHash' | 'logIndex'>): string {
  return `${txHash} ${tokenAddress} ${sender} ${recipient} ${amount}`;
}

async function payableOf(db: Look['db'], transfers: readonly Transfer[]): Promise<ReadonlySet<Transfer>> {
  const payable = new Set<Transfer>();
  const byAddress = Map.groupBy(transfers, one => `${one.tokenAddress} ${one.recipient}`);
  for (const some of byAddress.values()) {
    const [first] = some;
    if (first === undefined) continue;
    const endedAfter = Math.min(...some.map(one => one.blockTime)) - LATE_PAYMENT_MS;
    const address = paidAddressOf(first);
    for (const one of await payableTransfers(db, address, { transfers: some, endedAfter })) payable.add(one);
  }
  return payable;
}

function logKeyOf({ txHash, logIndex }: Pick<RecordedPayment, 'txHash' | 'logIndex'>): string {
  return `${txHash} ${logIndex}`;
}
