import { randomBytes } from 'node:crypto';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { eventStore } from '#payments/events/event-store.ts';
import type { Owner } from '#payments/model/owner.ts';
import { NATIVE_COIN, type PaymentChain, paymentChains } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { type Seals, seals as sealsOf } from '#payments/secrets/sealed.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { type ChainWatcher, chainWatcher } from '#payments/watcher/chain-watcher.ts';
import type { Failpoint } from '#payments/watcher/look/look.ts';
import type { ProvenIndex } from '#payments/watcher/proofs/indexed-blocks.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { PATIENCE_MS } from '../../lab/until.ts';

/** A secret for tests only. */
export const SECRET = 'a secret of tests only';
export const seals = sealsOf([SECRET]);
export const log = createLogger({ level: 'silent' });
const CONFIRMATIONS = 2;
/** Blocks that complete a payment in the pool: its own block and the confirmations. */
export const BLOCKS_TO_SETTLE = CONFIRMATIONS + 1;

/** The watched chain, with one token and its coin. */
export function paymentChain({ chainId, token }: { chainId: number; token: string }): PaymentChain {
  return {
    id: chainId,
    name: 'Test chain',
    mode: 'test',
    tokens: [
      { address: token.toLowerCase(), symbol: 'USDS', decimals: 6 },
      { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
    ],
    confirmations: CONFIRMATIONS,
    prove: 'findings',
    explorerUrl: undefined,
  };
}

export function watcherOf({
  chain,
  rpcUrls,
  db,
  clock,
  maxAnswerBytes,
  nodeClock,
  ...rest
}: {
  chain: PaymentChain;
  rpcUrls: readonly string[];
  db: Db;
  clock: Clock;
  maxAnswerBytes?: number | undefined;
  /** Time of the ranks of nodes; that of the machine when absent. */
  nodeClock?: Clock | undefined;
  index?: ProvenIndex | undefined;
  leaseMs?: number;
  fault?: Failpoint;
  seals?: Seals;
}): ChainWatcher {
  const client = createChainClient({
    id: chain.id,
    rpcUrls: [...rpcUrls],
    // Longer than a test may take, so that a wait for a node that hangs fails the test.
    timeoutMs: 2 * PATIENCE_MS,
    maxAnswerBytes,
    ...(nodeClock === undefined ? {} : { clock: nodeClock }),
    log,
  });
  return chainWatcher({ chain, client, db, seals, clock, log, ...rest });
}

/** An open database with one organization, and functions to act on it and read it. */
export async function shop(options: DatabaseOptions, clock: Clock, chain: PaymentChain) {
  const db = openDatabase(options);
  const organization = anOrganization();
  await organizationStore(db).insert(organization);
  const owner: Owner = { organizationId: organization.id, mode: 'test' };
  const recipientAddress = `0x${randomBytes(20).toString('hex')}`;

  return {
    db,
    owner,
    recipient: recipientAddress,
    open: (changes: Partial<SessionDraft> = {}) =>
      transaction(db, handle =>
        sessionStore(handle, seals).open({
          ...draft(owner, { chain, recipientAddress, now: clock.now() }),
          ...changes,
        }),
      ),
    async session(id: string): Promise<CheckoutSession> {
      const found = await sessionStore(db, seals).findById(id);
      if (found === undefined) throw new Error(`no session ${id}`);
      return found;
    },
    bind: (id: string, wallet: string) =>
      transaction(db, handle => sessionStore(handle, seals).bindWallet(id, wallet, clock.now())),
    /** Binds a wallet and settles what it has sent; returns the session. */
    prove: (id: string, wallet: string) =>
      transaction(db, async handle => {
        const sessions = sessionStore(handle, seals);
        await sessions.bindWallet(id, wallet, clock.now());
        await settlement({ handle, seals, now: clock.now() }).settleTransfersOf(
          id,
          wallet,
          paymentChains([chain]),
        );
        return sessions.findById(id);
      }),
    claim: (id: string, hash: string) =>
      transaction(db, handle => settlement({ handle, seals, now: clock.now() }).claim({ id }, hash)),
    expire: (id: string) =>
      transaction(db, handle => settlement({ handle, seals, now: clock.now() }).expire(id)),
    payments: (id: string) => transactionStore(db).ofSession(id),
    /** Event types, oldest first. */
    async events(): Promise<string[]> {
      const page = await eventStore(db, seals).list(owner, { since: 0 }, { page: 1, limit: 1_000 });
      return page.data.map(one => one.type).reverse();
    },
    close: () => db.destroy(),
  };
}

export type Shop = Awaited<ReturnType<typeof shop>>;

function draft(
  owner: Owner,
  { chain, recipientAddress, now }: { chain: PaymentChain; recipientAddress: string; now: number },
): SessionDraft {
  const [token = { address: NATIVE_COIN, decimals: 18 }] = chain.tokens;
  return aSession(owner, {
    chainId: chain.id,
    tokenAddress: token.address,
    recipientAddress,
    tokenDecimals: token.decimals,
    subtotal: 5_000_000n,
    amount: 5_000_000n,
    requiredConfirmations: chain.confirmations,
    expiresAt: now + 1_800_000,
    createdAt: now,
    updatedAt: now,
  });
}
