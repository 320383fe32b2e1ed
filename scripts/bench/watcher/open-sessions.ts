import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import type { Seals } from '#payments/secrets/sealed.ts';
import { sessionValues } from '#payments/sessions/session-rows.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { watchedStore } from '#payments/store/watched-store.ts';
import { slices } from '#payments/watcher/node/node-view.ts';
import { anOrganization } from '#test/lab/payments-records.ts';
import { aSession } from '#test/lab/payments-sessions.ts';
import { CHAIN_ID } from '../payments/link.ts';
import { IN_POOL } from './canned-chain.ts';

export const TOKENS = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const;
export const CONFIRMATIONS = 12;

const SESSIONS = 11_000;
const ORGANIZATIONS = 5;
const RECIPIENTS = 2_000;
const CLAIMS = 200;
/** One in `SIGNED` sessions has a payer's wallet signature. */
const SIGNED = 4;
const MINUTE_MS = 60_000;
const ROWS_PER_STATEMENT = 250;

/**
 * Opens sessions on one chain, enough that more than 10,000 stay open during the measurement. They belong to several
 * organizations and many recipients, and are for a coin and two tokens. Some have a wallet signature, and some of those
 * a claimed hash that is pending or unknown. Returns the sessions without a claim.
 */
export async function openSessions(db: Db, seals: Seals, now: number): Promise<CheckoutSession[]> {
  const owners = await organizations(db);
  const sessions = Array.from({ length: SESSIONS }, (_, index) => openSession(owners, index, now));
  await transaction(db, handle => insertSessions(handle, seals, sessions));
  await transaction(db, handle => watchRecipients(handle, sessions, now));
  const claimed = sessions.filter((_, index) => isClaimed(index));
  for (const [index, session] of claimed.entries()) {
    const createdAt = now - (index * 10 * MINUTE_MS) / CLAIMS;
    await transaction(db, handle =>
      settlement({ handle, seals, now: createdAt }).claim(session, claimedHash(index, session)),
    );
  }
  if (db.dialect.name === 'postgres') await db.raw('vacuum analyze');
  return sessions.filter((_, index) => !isClaimed(index));
}

async function organizations(db: Db): Promise<Owner[]> {
  const all = Array.from({ length: ORGANIZATIONS }, () => anOrganization());
  for (const one of all) await organizationStore(db).insert(one);
  return all.map(({ id }) => ({ organizationId: id, mode: 'test' }));
}

function openSession(owners: readonly Owner[], index: number, now: number): CheckoutSession {
  const recipient = index % RECIPIENTS;
  const owner = owners[recipient % owners.length];
  if (owner === undefined) throw new Error('there is no organization');
  const tokenAddress = [NATIVE_COIN, ...TOKENS][Math.floor(index / RECIPIENTS) % 3] ?? NATIVE_COIN;
  const { tokenDecimals: _, ...session } = aSession(owner);
  return {
    ...session,
    chainId: CHAIN_ID,
    tokenAddress,
    recipientAddress: `0x5e${recipient.toString(16).padStart(38, '0')}`,
    amountDue: session.amount + BigInt(index) + 1n,
    isWalletOnly: false,
    depositAddress: null,
    signedAddress: index % SIGNED === 0 ? payerOf(index) : null,
    payerAddress: index % SIGNED === 0 ? payerOf(index) : null,
    requiredConfirmations: CONFIRMATIONS,
    customerEmail: `payer${index}@example.com`,
    createdAt: now - 10 * MINUTE_MS,
    updatedAt: now - 10 * MINUTE_MS,
    expiresAt: now + 24 * 60 * MINUTE_MS,
  };
}

function payerOf(index: number): string {
  return `0xfa${index.toString(16).padStart(38, '0')}`;
}

/** True for every fourth session with a wallet signature, up to `CLAIMS` sessions. */
function isClaimed(index: number): boolean {
  return index % (4 * SIGNED) === 0 && index < 4 * SIGNED * CLAIMS;
}

function claimedHash(index: number, { payerAddress }: CheckoutSession): string {
  const nowhere = `0x${'c1a1'.repeat(14)}${index.toString(16).padStart(8, '0')}`;
  return index % 2 === 0 ? `${payerAddress}${IN_POOL}` : nowhere;
}

/** Inserts sessions as they are, in parts. */
export async function insertSessions(
  handle: Transaction,
  seals: Seals,
  sessions: readonly CheckoutSession[],
): Promise<void> {
  const rows = sessions.map(session => ({
    ...sessionValues(session, seals),
    client_hash: null,
    is_price_round: true,
  }));
  for (const some of slices(rows, ROWS_PER_STATEMENT)) await handle('checkout_sessions').insert(some);
}

/** Watches every recipient, like the first session of a recipient does. */
export async function watchRecipients(
  handle: Transaction,
  sessions: readonly CheckoutSession[],
  now: number,
): Promise<void> {
  const places = new Map(sessions.map(one => [`${one.tokenAddress} ${one.recipientAddress}`, one]));
  for (const one of places.values()) {
    const { organizationId, mode, chainId, recipientAddress: address } = one;
    await watchedStore(handle).watch(one, one, now);
    await recipientStore(handle).name({ organizationId, mode }, { chainId, address }, now);
  }
}
