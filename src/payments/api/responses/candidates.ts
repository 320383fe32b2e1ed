import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Owner } from '../../model/owner.ts';
import { tokenOf } from '../../model/payment-chain.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { Transfer } from '../../model/transfer.ts';
import { sessionStore } from '../../sessions/session-store.ts';
import { candidateSessions } from '../../sessions/suggested-session.ts';
import { LATE_PAYMENT_MS, paidAddressOf } from '../../settlement/match.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import { pagedList } from './answers.ts';
import { sessionBody } from './record-bodies.ts';

/** Most candidates of a transfer. */
const MAX_CANDIDATES = 10;

/** The facts of a transfer by which its candidates are found, and the session that it pays already. */
type SoughtTransfer = Pick<
  Transfer,
  'chainId' | 'tokenAddress' | 'recipient' | 'amount' | 'blockTime' | 'sender'
> & { readonly exceptSessionId?: string };

/** The sessions for which a transfer was probably meant, the best first, on one page (Decision 347). */
export async function candidateList(
  { db, seals, chains, publicUrl }: PaymentsContext,
  owner: Owner,
  { path, transfer }: { readonly path: string; readonly transfer: SoughtTransfer },
): Promise<PaymentsSchemas['CheckoutSessionList']> {
  const { chainId, tokenAddress, blockTime, exceptSessionId } = transfer;
  const chain = chains.all.find(({ id }) => id === chainId);
  const found = await candidateSessions(db, owner, {
    ...paidAddressOf(transfer),
    amount: transfer.amount,
    sender: transfer.sender,
    tokenDecimals: (chain && tokenOf(chain, tokenAddress)?.decimals) ?? 0,
    blockTime,
    openedBy: blockTime + LIFE_ALLOWANCE.beforeMs,
    endedAfter: blockTime - LATE_PAYMENT_MS,
  });
  const ids = found.filter(id => id !== exceptSessionId).slice(0, MAX_CANDIDATES);
  const sessions = await sessionStore(db, seals).findMany(ids);
  const data = ids.flatMap(id => sessions.get(id) ?? []);
  return pagedList(path, { data, total: data.length, hasMore: false }, one =>
    sessionBody(one, { publicUrl }),
  );
}

/** Refusal of a session with another chain, token or recipient. */
export function otherAddress(): InvalidBody {
  return new InvalidBody('session_id', 'must be a session of the same chain, token and recipient');
}
