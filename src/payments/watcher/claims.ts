import type { Clock } from '../../lib/clock.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession, FailureReason } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { sessionStore } from '../store/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { type Lookup, lookUp, transfersIn } from './by-hash.ts';
import { record } from './record.ts';
import { fateOf } from './replaced.ts';
import { ROWS_PER_EFFECT, type Round } from './round.ts';
import { slices } from './slices.ts';

/** How long a transaction may be nowhere before its payment counts as failed. */
export const NOT_FOUND_MS = 30 * 60_000;

/** How often the pool is looked at while there is no new block. */
const POOL_PAUSE_MS = 2_000;

/** Looks after payments whose hash is known and that are in no block: claimed ones, and ones that a block lost. */
export interface ClaimFollower {
  /** Answers with how many moved on. */
  follow(round: Round): Promise<number>;
}

/** What is to be done about one of them. */
type Finding =
  | { readonly kind: 'mined'; readonly transfers: readonly Transfer[] }
  /** In the pool; `nonce` when that is the payer's and not known yet. */
  | { readonly kind: 'waiting'; readonly nonce: number | undefined }
  | { readonly kind: 'failed'; readonly reason: FailureReason }
  | { readonly kind: 'missing' };

/** A follower remembers since when what was there once is missing; what was only ever claimed is so since its claim. */
export function claimFollower({ clock }: { clock: Clock }): ClaimFollower {
  let missingSince = new Map<string, number>();
  let looked: { readonly at: number; readonly head: string } = { at: 0, head: '' };

  async function follow(round: Round): Promise<number> {
    const { chain, db, seals, head } = round;
    if (looked.head === head.hash && clock.now() - looked.at < POOL_PAUSE_MS) return 0;
    looked = { at: clock.now(), head: head.hash };
    const open = await transactionStore(db).open(chain.id);
    const pending = open.filter(one => one.status === 'pending' && one.txHash !== null);
    const sessions = new Map<string, CheckoutSession>();
    for (const ids of slices([...new Set(pending.map(one => one.sessionId))], ROWS_PER_EFFECT)) {
      for (const [id, session] of await sessionStore(db, seals).findMany(ids)) sessions.set(id, session);
    }
    const found = await lookUp(
      pending.map(one => one.txHash ?? ''),
      round,
    );
    const findings: { id: string; finding: Finding }[] = [];
    const stillMissing = new Map<string, number>();
    for (const claim of pending) {
      const lookup = found.get(claim.txHash ?? '');
      if (lookup === undefined) continue;
      const payer = sessions.get(claim.sessionId)?.payerAddress ?? null;
      const finding = await judge(round, { claim, payer, lookup });
      findings.push({ id: claim.id, finding: patiently(claim, finding, stillMissing) });
    }
    missingSince = stillMissing;
    return settle(round, findings);
  }

  function patiently(claim: PaymentTransaction, finding: Finding, still: Map<string, number>): Finding {
    // One that is mined and still pending after its transfers were recorded is somebody else's payment.
    if (finding.kind !== 'missing' && finding.kind !== 'mined') return finding;
    const now = clock.now();
    const wasEverThere = finding.kind === 'mined' || claim.sender !== null || claim.nonce !== null;
    // One that is claimed again is looked for as long again.
    const first = wasEverThere || now - claim.createdAt >= NOT_FOUND_MS ? now : claim.createdAt;
    const since = missingSince.get(claim.id) ?? first;
    if (now - since >= NOT_FOUND_MS) return { kind: 'failed', reason: 'not_found' };
    still.set(claim.id, since);
    return finding;
  }

  return { follow };
}

async function judge(
  round: Round,
  { claim, payer, lookup }: { claim: PaymentTransaction; payer: string | null; lookup: Lookup },
): Promise<Finding> {
  const { chain, places, view, head } = round;
  const { transaction, mined } = lookup;
  if (mined !== undefined) {
    // Anybody's transaction can be claimed, so only the payer's own failure is one.
    const isOwn = mined.receipt.from.toLowerCase() === payer;
    if (isOwn && Number(mined.receipt.status) === 0) return { kind: 'failed', reason: 'reverted' };
    const transfers = transfersIn(lookup, { chainId: chain.id, places });
    return { kind: 'mined', transfers: transfers.filter(one => isPaymentOf(one, claim)) };
  }
  if (transaction !== undefined) {
    const isOwn = transaction.from.toLowerCase() === payer;
    const isNew = isOwn && claim.nonce === null;
    return { kind: 'waiting', nonce: isNew ? Number(transaction.nonce) : undefined };
  }
  if (claim.nonce === null || payer === null || claim.txHash === null) return { kind: 'missing' };
  const fate = await fateOf({ sender: payer, nonce: claim.nonce }, { view, head });
  // It may have been mined since it was looked up, and have used its nonce itself.
  const isMined = (await view.receipts([claim.txHash])).size > 0;
  return fate === 'unused' || isMined ? { kind: 'missing' } : { kind: 'failed', reason: fate };
}

async function settle(round: Round, findings: readonly { id: string; finding: Finding }[]): Promise<number> {
  const transfers = findings.flatMap(({ finding }) => (finding.kind === 'mined' ? finding.transfers : []));
  const unique = new Map(transfers.map(one => [`${one.txHash} ${one.logIndex}`, one]));
  let changes = 0;
  if (unique.size > 0) {
    const sighting = { transfers: [...unique.values()], repriced: new Map(), cursor: undefined };
    changes += (await record(round, sighting)).changes;
  }
  const moving = findings.filter(
    ({ finding }) => finding.kind === 'failed' || (finding.kind === 'waiting' && finding.nonce !== undefined),
  );
  for (const some of slices(moving, ROWS_PER_EFFECT)) {
    await round.effect('claims', async ({ settle }) => {
      for (const { id, finding } of some) {
        if (finding.kind === 'failed') await settle.fail(id, finding.reason);
        if (finding.kind !== 'waiting' || finding.nonce === undefined) continue;
        await settle.waiting(id, finding.nonce);
      }
    });
  }
  return changes + moving.length;
}

function isPaymentOf(transfer: Transfer, claim: PaymentTransaction): boolean {
  return transfer.tokenAddress === claim.tokenAddress && transfer.recipient === claim.recipient;
}
