import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { placeholders, type Values } from '../../db/rows.ts';
import { isRound } from '../amounts/exact-amount.ts';
import type { CheckoutSession } from '../model/session.ts';
import { recipientStore } from '../recipients/recipient-store.ts';
import type { Seals } from '../secrets/sealed.ts';
import { watchedStore } from '../store/watched-store.ts';
import { freeAmount } from './amounts-due.ts';
import type { SessionDraft } from './opening.ts';
import { sessionValues } from './session-rows.ts';

/**
 * What holds one amount for one session. In a serializable transaction PostgreSQL reports whoever committed the same
 * amount meanwhile as a conflict that the transaction can be tried again for, where a violated index would end it.
 */
const UNLESS_TAKEN = `on conflict (chain_id, token_address, recipient_address, amount_due)
  where status = 'active' and not is_wallet_only do nothing`;

/** Within a transaction the first one is the only one. */
const MOST_ATTEMPTS = 20;

/** Opens a session, as `open` of the session store says. */
export async function openSession(
  handle: Handle,
  seals: Seals,
  draft: SessionDraft,
): Promise<CheckoutSession> {
  const { organizationId, mode, chainId, recipientAddress: address, createdAt } = draft;
  await watchedStore(handle).watch(draft, draft, createdAt);
  const { isOwner } = await recipientStore(handle).name(
    { organizationId, mode },
    { chainId, address },
    createdAt,
  );
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    // Only the owner of the recipient is paid by exact amounts. Decision 137.
    const amountDue = isOwner ? await freeAmount(handle, draft, attempt) : undefined;
    const { tokenDecimals, clientHash = null, ...opened } = draft;
    const session = {
      ...opened,
      amountDue: amountDue ?? draft.amount,
      isWalletOnly: amountDue === undefined,
    };
    const values = {
      ...sessionValues(session, seals),
      client_hash: clientHash,
      is_price_round: isRound(session.amount, tokenDecimals),
    };
    if (await inserted(handle, values)) return session;
  }
  throw new Error(
    `Every amount that was found free for session ${draft.id} was taken before it was written.`,
  );
}

/** False when the amount was taken since it was found free: without a transaction others come in between. */
async function inserted(handle: Handle, values: Values): Promise<boolean> {
  const columns = Object.keys(values);
  const rows = await rowsOf(
    handle,
    `insert into checkout_sessions (${columns.join(', ')}) values (${placeholders(columns.length)})
     ${UNLESS_TAKEN} returning id`,
    Object.values(values),
  );
  return rows.length === 1;
}
