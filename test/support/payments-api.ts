import { randomBytes } from 'node:crypto';
import { proofReader } from '#node/transaction-proof.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import {
  type PaymentsOperations,
  type PaymentsPublicOperation,
  paymentsContract,
} from '../../src/contract/contracts/payments.ts';
import { paymentsErrorBody } from '../../src/contract/contracts/payments-errors.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { mountGated } from '../../src/contract/mount/mount.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../../src/db/open.ts';
import { transaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { ChainClient } from '../../src/node/client.ts';
import { signatureJudge } from '../../src/node/wallet-signature.ts';
import { apiKeyHandlers } from '../../src/payments/api/api-keys.ts';
import { chainHandlers } from '../../src/payments/api/chains.ts';
import { customerHandlers } from '../../src/payments/api/customers/customers.ts';
import { depositAddressHandlers } from '../../src/payments/api/deposits/deposit-addresses.ts';
import { eventHandlers } from '../../src/payments/api/events.ts';
import type { AnonymousCaller, ApiCaller } from '../../src/payments/api/gate/api-context.ts';
import { paymentsGate } from '../../src/payments/api/gate/gate.ts';
import { rateLimits } from '../../src/payments/api/gate/rate-limits.ts';
import { linkHandlers } from '../../src/payments/api/links/links.ts';
import { notificationHandlers } from '../../src/payments/api/notifications.ts';
import { imageHandlers } from '../../src/payments/api/organization/images.ts';
import { organizationHandlers } from '../../src/payments/api/organization/organization.ts';
import { recipientHandlers } from '../../src/payments/api/organization/recipients.ts';
import { refundHandlers } from '../../src/payments/api/refunds.ts';
import { sessionHandlers, simulationHandlers } from '../../src/payments/api/sessions.ts';
import { setAsideHandlers } from '../../src/payments/api/set-aside.ts';
import { statsHandlers } from '../../src/payments/api/stats.ts';
import { transactionHandlers } from '../../src/payments/api/transactions.ts';
import { transferHandlers } from '../../src/payments/api/transfers.ts';
import { webhookHandlers } from '../../src/payments/api/webhooks.ts';
import { auditTrail } from '../../src/payments/audit/audit-trail.ts';
import { auditHandlers } from '../../src/payments/audit/operations.ts';
import { chainStatuses } from '../../src/payments/chain-status.ts';
import { shownStates } from '../../src/payments/checkout/bodies.ts';
import { checkoutHandlers } from '../../src/payments/checkout/operations.ts';
import { type StateWaits, stateWaits } from '../../src/payments/checkout/state-waits.ts';
import { startDelivery } from '../../src/payments/delivery-workers.ts';
import { sweepPlanner } from '../../src/payments/deposits/sweep-plan.ts';
import type { Permission } from '../../src/payments/keys/api-key.ts';
import { issueKey } from '../../src/payments/keys/issue-key.ts';
import type { LinkDefaults, Mode, Owner } from '../../src/payments/model/owner.ts';
import { NATIVE_COIN, type PaymentChains, paymentChains } from '../../src/payments/model/payment-chain.ts';
import type { Transfer } from '../../src/payments/model/transfer.ts';
import { type OutgoingChannels, type OutgoingOptions, openOutgoing } from '../../src/payments/outgoing.ts';
import { type Seals, seals } from '../../src/payments/secrets/sealed.ts';
import { type Settlement, settlement } from '../../src/payments/settlement/settlement.ts';
import { cursorStore } from '../../src/payments/store/cursor-store.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { serve } from '../http/serve.ts';
import { list, record, text } from '../lab/json.ts';
import { aLink, anOrganization } from '../lab/payments-records.ts';
import { LOOPBACK_ONLY } from '../lab/payments-service.ts';
import { exchange } from './exchange.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

/** Chains of the service: one in test mode and one in live mode, both with the token of `aLink` and their coin. */
export const TEST_CHAIN = 31_337;
export const LIVE_CHAIN = 8453;
export const TOKEN = aLink({ organizationId: '', mode: 'test' }).tokenAddress;
export const RECIPIENT = aLink({ organizationId: '', mode: 'test' }).recipientAddress;
/** Token, chain and recipient of these tests, as fields of the API. */
export const PLACE = { chain_id: TEST_CHAIN, token_address: TOKEN, recipient_address: RECIPIENT };
/** Time that a payer has after opening a link, in milliseconds. */
export const LIFETIME_MS = 20 * 60_000;

const tokens = [
  { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
  { address: TOKEN, symbol: 'USDC', decimals: 6 },
];
export const CHAINS = paymentChains([
  {
    id: TEST_CHAIN,
    name: 'Local',
    mode: 'test',
    tokens,
    confirmations: 2,
    depositAddresses: {},
    explorerUrl: hash => `https://explorer.example/tx/${hash}`,
  },
  { id: LIVE_CHAIN, name: 'Base', mode: 'live', tokens, confirmations: 3, explorerUrl: undefined },
]);

/** One answer, checked against the contract. `body` is the parsed JSON, or else the text. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A client of the API: the holder of a key, or a payer. */
export interface ApiClient {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  patch(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
}

export interface Merchant extends ApiClient {
  readonly owner: Owner;
  readonly name: string;
  /** Another key of the same organization. */
  withKey(key: { mode?: Mode; permission?: Permission }): Promise<ApiClient>;
}

/** Every operation of the payments platform over HTTP, without watchers of chains. */
export interface PaymentsApi extends AsyncDisposable {
  readonly url: string;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: ManualClock;
  readonly outgoing: OutgoingChannels;
  readonly waits: StateWaits;
  /** Records that the test chain has just been read up to its head, as its watcher would. */
  looked(): Promise<void>;
  /** A client without a key. */
  readonly payer: ApiClient;
  /** Changes states as a watcher would, in one transaction. */
  settle<T>(work: (settled: Settlement) => Promise<T>): Promise<T>;
  /** Starts the relay and sending of events with this clock. It ends with the service at the latest. */
  tell(): { stop(): Promise<void> };
  /** A new organization with an admin key of this mode, by default test. */
  merchant(mode?: Mode, defaults?: Partial<LinkDefaults>): Promise<Merchant>;
}

/**
 * Starts the API on a migrated database. `await using` closes it. Webhooks reach loopback receivers by
 * default. Contracts can sign on the chains that `clientOf` knows.
 */
export async function startPaymentsApi(
  database: DatabaseOptions,
  ways: Partial<OutgoingOptions> = {},
  {
    clientOf = () => undefined,
    clock = manualClock(),
    chains = CHAINS,
  }: {
    clientOf?: (chainId: number) => ChainClient | undefined;
    clock?: ManualClock;
    chains?: PaymentChains;
  } = {},
): Promise<PaymentsApi> {
  const db = openDatabase(database);
  const sealed = seals(['a secret that seals nothing but what tests keep']);
  const context = {
    db,
    clock,
    seals: sealed,
    chains,
    publicUrl: 'https://pay.example.com',
    sessionLifetimeMs: LIFETIME_MS,
  };
  const log = createLogger({ level: 'warn' });
  const outgoing = await openOutgoing(
    { ...LOOPBACK_ONLY, ...ways },
    { clock, log: createLogger({ level: 'silent' }) },
  );
  const telling: { stop(): Promise<void> }[] = [];
  const verifySignature = signatureJudge(clientOf);
  const limits = { standard: 10_000, elevated: 10_000 };
  const { isLate: isChainLate } = chainStatuses({ db, clock, watched: [] });
  const waits = stateWaits({ states: shownStates({ db, clock, isChainLate }), clock, log });
  const route = await mountGated<PaymentsOperations, PaymentsPublicOperation, ApiCaller, AnonymousCaller>({
    contract: paymentsContract,
    gate: paymentsGate({
      db,
      seals: sealed,
      clock,
      counts: rateLimits(db, limits),
      trail: auditTrail(clock),
      log,
    }),
    handlers: {
      ...linkHandlers(context),
      ...apiKeyHandlers(context),
      ...organizationHandlers(context),
      ...imageHandlers(context),
      ...chainHandlers({ ...context, isChainLate, deposits: { chains: [], refusal: () => undefined } }),
      ...recipientHandlers(context, { verifySignature }),
      ...sessionHandlers(context),
      ...statsHandlers(context),
      ...transactionHandlers(context, { readProof: proofReader(clientOf) }),
      ...eventHandlers(context),
      ...transferHandlers(context),
      ...refundHandlers(context),
      ...depositAddressHandlers(context, { planSweep: sweepPlanner(clientOf) }),
      ...setAsideHandlers(context),
      ...auditHandlers(context),
      ...customerHandlers(context),
      ...simulationHandlers(context),
      ...webhookHandlers(context, { ...outgoing, ...outgoing.webhooks, log }),
      ...notificationHandlers(context, outgoing),
      ...checkoutHandlers({ ...context, waits, isChainLate, verifySignature }),
    },
    validateResponses: true,
  });
  const served = await serve([route], { log, formatError: paymentsErrorBody, trustedProxies: ['127.0.0.1'] });
  const keyed = async (owner: Owner, permission: Permission) => {
    const draft = { ...owner, name: 'A key', permission, expiresAt: null };
    return apiClient(served.url, (await issueKey(db, draft, clock.now())).secret);
  };

  return {
    db,
    seals: sealed,
    clock,
    outgoing,
    waits,
    looked: () =>
      cursorStore(db).keep(TEST_CHAIN, {
        cursor: { blockNumber: 1, scannedAt: clock.now(), headTime: clock.now() },
        settledBlock: 1,
      }),
    tell() {
      const workers = startDelivery({ ...context, log, outgoing });
      telling.push(workers);
      return workers;
    },
    url: served.url,
    payer: apiClient(served.url),
    settle: work => transaction(db, handle => work(settlement({ handle, seals: sealed, now: clock.now() }))),
    async merchant(mode = 'test', defaults = {}) {
      const { id: organizationId, ...organization } = anOrganization({
        id: newId('org'),
        defaults: { chainId: null, tokenAddress: null, recipientAddress: null, ...defaults },
      });
      await organizationStore(db).insert({ id: organizationId, ...organization });
      const owner = { organizationId, mode };
      return {
        owner,
        name: organization.name,
        withKey: key => keyed({ ...owner, mode: key.mode ?? mode }, key.permission ?? 'admin'),
        ...(await keyed(owner, 'admin')),
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(telling.map(one => one.stop()));
      await waits.close();
      await served.close(0);
      await outgoing.close();
      await db.destroy();
    },
  };
}

/** A transfer of 2.5 tokens to the recipient of `aLink`, in its own transaction and block. */
export function aPayment(changes: Partial<Transfer> & Pick<Transfer, 'blockTime'>): Transfer {
  return {
    chainId: TEST_CHAIN,
    txHash: someHash(),
    logIndex: 1,
    blockNumber: 7,
    blockHash: someHash(),
    tokenAddress: TOKEN,
    sender: `0x${'c1'.repeat(20)}`,
    recipient: RECIPIENT,
    amount: 2_500_000n,
    ...changes,
  };
}

export function someHash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}

/** The ids of a page, in order. */
export function idsOf({ body }: ApiAnswer): string[] {
  return list(record(body).data).map(one => text(record(one).id));
}

/** Status, code and place of an error in one line. */
export function errorOf(answer: ApiAnswer): string {
  const { code, param } = record(record(answer.body).error);
  return [answer.status, text(code), ...(param === undefined ? [] : [text(param)])].join(' ');
}

/** An answer with everything a client can compare, without values that vary per request. */
export function masked({ status, headers, body }: ApiAnswer, id: string): unknown {
  const own = [
    'date',
    'x-request-id',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'ratelimit',
    'content-length',
  ];
  const kept = [...headers].filter(([name]) => !own.includes(name));
  return JSON.parse(JSON.stringify({ status, headers: kept, body }).replaceAll(id, '<id>'));
}

const validators = responseValidators(paymentsContract.document);

/** A client of a running service that checks every answer against the contract; a payer without a key. */
export function apiClient(url: string, key?: string): ApiClient {
  const send = async (
    method: 'get' | 'post' | 'patch' | 'delete',
    path: string,
    { headers: given = {}, ...rest }: { headers?: Readonly<Record<string, string>>; body?: string },
  ): Promise<ApiAnswer> => {
    const {
      status,
      headers,
      text: content,
    } = await exchange(url + path, {
      method: method.toUpperCase(),
      headers: { ...(key === undefined ? {} : { 'X-API-Key': key }), ...given },
      ...rest,
    });
    const isJson = (headers.get('content-type') ?? '').startsWith('application/json');
    const body: unknown = isJson && content !== '' ? JSON.parse(content) : content;
    hold({ status, headers, body }, operationAt(method, path));
    return { status, headers, body };
  };
  return {
    get: (path, headers = {}) => send('get', path, { headers }),
    patch: (path, body, headers = {}) =>
      send('patch', path, {
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    delete: path => send('delete', path, {}),
    post: (path, body, headers = {}) =>
      send('post', path, {
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

/** @throws Error for an answer outside the contract */
function hold({ status, headers, body }: ApiAnswer, { id, statuses }: OperationRow): void {
  if (!statuses.includes(status)) throw new Error(`${id} does not declare ${status}`);
  if (headers.get('x-request-id') === null) throw new Error(`${id}: no X-Request-Id`);
  // A replay is the response of the version that gave it first.
  if (status === 304 || headers.get('idempotent-replayed') === 'true') return;
  const validate = validators(id, status);
  if (validate === undefined) throw new Error(`${id} has no schema for ${status}`);
  if (!validate(body)) throw new Error(`${id} ${status}: ${describeErrors(validate.errors)}`);
}

function operationAt(method: string, path: string): OperationRow {
  const segments = path.split('?')[0]?.split('/') ?? [];
  const candidates = Object.values<OperationRow>(paymentsContract.table).filter(row => {
    const pattern = row.path.split('/');
    return (
      row.method === method &&
      pattern.length === segments.length &&
      pattern.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  // A literal segment takes precedence over a template.
  const [closest] = candidates.sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  if (closest === undefined) throw new Error(`No operation ${method} ${path}`);
  return closest;
}
