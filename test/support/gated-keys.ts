import type { Contract } from '../../src/contract/contracts/contract.ts';
import {
  type PaymentsHandlers,
  type PaymentsOperations,
  type PaymentsPublicOperation,
  paymentsContract,
} from '../../src/contract/contracts/payments.ts';
import { paymentsErrorBody } from '../../src/contract/contracts/payments-errors.ts';
import { mountGated } from '../../src/contract/mount/mount.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../../src/db/open.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { RequestCounters } from '../../src/lib/request-counters.ts';
import { apiKeyHandlers } from '../../src/payments/api/api-keys.ts';
import type { AnonymousCaller, ApiCaller } from '../../src/payments/api/gate/api-context.ts';
import { paymentsGate } from '../../src/payments/api/gate/gate.ts';
import { type KeyLimits, type RateLimits, rateLimits } from '../../src/payments/api/gate/rate-limits.ts';
import { resourceNotFound } from '../../src/payments/api/responses/answers.ts';
import { auditTrail } from '../../src/payments/audit/audit-trail.ts';
import type { ApiKey } from '../../src/payments/keys/api-key.ts';
import { issueKey, type KeyDraft } from '../../src/payments/keys/issue-key.ts';
import type { Tier } from '../../src/payments/model/owner.ts';
import { type Seals, seals } from '../../src/payments/secrets/sealed.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { type Served, serve } from '../http/serve.ts';
import { PATIENCE_MS } from '../lab/until.ts';

const SEAL_SECRET = 'a secret that seals nothing but what tests keep';

const { listApiKeys, createApiKey, revokeApiKey, rollApiKey, getCheckoutState, bindWallet, claimPayment } =
  paymentsContract.table;
const TABLE = {
  listApiKeys,
  createApiKey,
  revokeApiKey,
  rollApiKey,
  getCheckoutState,
  bindWallet,
  claimPayment,
};
type Id = keyof typeof TABLE;
const CONTRACT: Contract<Pick<PaymentsOperations, Id>> = { ...paymentsContract, table: TABLE };
type Handlers = Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, Id>;

export interface GatedKeysOptions {
  readonly database: DatabaseOptions;
  readonly clock?: Clock;
  readonly limits?: KeyLimits;
  /** Request counters, as in `rateLimits`. */
  readonly counters?: RequestCounters;
  /** Runs before the operation that creates a key commits, and can delay it. */
  readonly beforeCreation?: (caller: ApiCaller) => Promise<void>;
}

export interface Sent {
  /** A key's secret, sent as `Authorization: Bearer`. */
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client address; loopback when absent. */
  readonly from?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** The gate with the operations of API keys, and payer operations without any session, over HTTP. */
export interface GatedKeys extends AsyncDisposable {
  readonly url: string;
  readonly db: Db;
  readonly counts: RateLimits;
  readonly entries: Served['entries'];
  /** Creates an organization and resolves to its id. */
  organization(tier?: Tier): Promise<string>;
  /** Creates a key, by default live and admin. */
  key(draft: Partial<KeyDraft> & { organizationId: string }): Promise<{ key: ApiKey; secret: string }>;
  send(method: string, path: string, sent?: Sent): Promise<Answered>;
}

/** Starts the service on a migrated database. `await using` closes it. */
export async function startGatedKeys(options: GatedKeysOptions): Promise<GatedKeys> {
  const { database, clock = systemClock, limits = { standard: 120, elevated: 1200 }, counters } = options;
  const db = openDatabase(database);
  const entries: Served['entries'] = [];
  const log = createLogger({
    level: 'debug',
    destination: { write: line => void entries.push(JSON.parse(line)) },
  });
  const counts = rateLimits(db, limits, { counters });
  const sealed = seals([SEAL_SECRET]);
  const gate = paymentsGate({
    db,
    seals: sealed,
    clock,
    counts,
    trail: auditTrail(clock),
    log,
  });
  const route = await mountGated<
    Pick<PaymentsOperations, Id>,
    Extract<PaymentsPublicOperation, Id>,
    ApiCaller,
    AnonymousCaller
  >({
    contract: CONTRACT,
    handlers: handlersOf({ db, seals: sealed, clock }, options.beforeCreation),
    gate,
    validateResponses: true,
  });
  const served = await serve([route], { log, formatError: paymentsErrorBody, trustedProxies: ['127.0.0.1'] });

  return {
    url: served.url,
    db,
    counts,
    entries,
    async organization(tier = 'standard') {
      const id = newId('org');
      const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
      await organizationStore(db).insert({ id, name: id, tier, defaults, createdAt: clock.now() });
      return id;
    },
    key: draft =>
      issueKey(
        db,
        { mode: 'live', name: 'A key', permission: 'admin', expiresAt: null, ...draft },
        clock.now(),
      ),
    send: (method, path, sent) => send(served.url, method, path, sent),
    async [Symbol.asyncDispose]() {
      await served.close(0);
      await db.destroy();
    },
  };
}

function handlersOf(
  context: { db: Db; seals: Seals; clock: Clock },
  beforeCreation: GatedKeysOptions['beforeCreation'],
): Handlers {
  const keys = apiKeyHandlers(context);
  const unknownSession = async ({ path }: { path: { checkout_session_id: string } }) => {
    throw resourceNotFound('checkout_session', path.checkout_session_id);
  };
  return {
    ...keys,
    async createApiKey(request, caller) {
      await beforeCreation?.(caller);
      return keys.createApiKey(request, caller);
    },
    getCheckoutState: unknownSession,
    bindWallet: unknownSession,
    claimPayment: unknownSession,
  };
}

async function send(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {}, from }: Sent = {},
): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
