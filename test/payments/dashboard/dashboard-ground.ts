import { dashboardContract } from '#contract/contracts/payments.ts';
import { describeErrors } from '../../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../../src/contract/mount/response-validators.ts';
import { type DatabaseOptions, type Db, openDatabase, type Transaction } from '../../../src/db/open.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { DAY_MS } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { apiKeyStore } from '../../../src/payments/keys/api-key-store.ts';
import { memberStore } from '../../../src/payments/members/member-store.ts';
import { signInAddressStore } from '../../../src/payments/members/sign-in-address.ts';
import type { PaymentsServiceOptions } from '../../../src/payments/service.ts';
import type { DemoRole } from '../../lab/dashboard-session.ts';
import { record, text } from '../../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../../lab/payments-service.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { type ApiClient, apiClient } from '../../support/payments-api.ts';
import { openOwners } from '../../support/payments-owners.ts';

export const SESSION = '/dashboard/session';
export const API = '/dashboard/api/v1';

/** An answer with the headers and cookies that the browser sees. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Value of `X-CSRF-Token`: the session's own when absent, none when null. */
  readonly csrf?: string | null;
}

/** A browser with at most one cookie, signed in or not. Answers are checked against the contract. */
export interface Browser {
  signIn(credential: object, headers?: Readonly<Record<string, string>>): Promise<PageAnswer>;
  send(method: string, path: string, sent?: Sent): Promise<PageAnswer>;
  /** The cookie as sent, `name=value`; undefined without one. */
  cookie(): string | undefined;
  csrf(): string;
}

/** The whole service with its own clock, and keys of its organizations. */
export interface DashboardGround {
  readonly service: TestPaymentsService;
  readonly clock: ManualClock;
  readonly db: Db;
  /** Log lines so far. */
  readonly lines: string[];
  /** A new browser. `headers` are on all of its requests, as a proxy would set them. */
  browser(headers?: Readonly<Record<string, string>>): Browser;
  /** The secret of an admin key of an organization that no other test uses. */
  key(): string;
  /** Credential of a new one-time address for the organization of a key, for a member with a role, by default an owner. */
  member(secret: string, role?: DemoRole): { readonly token: string };
  /** A client of the API with a key. */
  api(secret: string): ApiClient;
  close(): Promise<void>;
}

/** Number of organizations, more than a file has tests. */
const ORGANIZATIONS = 40;

/** Starts the ground on a migrated database. */
export async function startDashboardGround(
  database: DatabaseOptions,
  overrides: Partial<PaymentsServiceOptions> = {},
): Promise<DashboardGround> {
  const clock = manualClock();
  const { secrets, tokens } = await ownersBefore(database, clock);
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: line => void lines.push(line) } });
  const service = await startTestPayments(database, {
    clock,
    log,
    trustedProxies: ['127.0.0.1'],
    ...overrides,
  });
  // For reads only: a second writer in this process would block the service's transactions.
  const db = openDatabase(database);
  return {
    service,
    clock,
    db,
    lines,
    browser: (headers = {}) => openBrowser(service.url, headers),
    key() {
      const secret = secrets.pop();
      if (secret === undefined) throw new Error('there are no more organizations');
      return secret;
    },
    member(secret, role = 'owner') {
      const token = tokens.get(secret)?.[role].pop();
      if (token === undefined) throw new Error(`there are no more addresses for ${role}`);
      return { token };
    },
    api: secret => apiClient(service.url, secret),
    async close() {
      await db.destroy();
      await service.close();
    },
  };
}

/** Tokens of one-time addresses, by role. */
type RoleTokens = Readonly<Record<DemoRole, string[]>>;

/** Addresses of each member, more than a test uses. They outlast the clock of every test. */
const ADDRESSES = { owner: 24, developer: 2, support: 2, read_only: 2 } as const;
const LONG_MS = 365 * DAY_MS;

async function ownersBefore(database: DatabaseOptions, clock: ManualClock) {
  const owners = openOwners(database, clock);
  const secrets: string[] = [];
  for (let made = 0; made < ORGANIZATIONS; made++) secrets.push(await owners.key({}));
  await owners.close();
  const db = openDatabase(database);
  const tokens = new Map<string, RoleTokens>();
  await transaction(db, async handle => {
    for (const secret of secrets) tokens.set(secret, await membersBefore(handle, secret, clock.now()));
  });
  await db.destroy();
  return { secrets, tokens };
}

async function membersBefore(handle: Transaction, secret: string, now: number): Promise<RoleTokens> {
  const found = await apiKeyStore(handle).findBySecret(secret);
  if (found === undefined) throw new Error('a key without an organization');
  const { organizationId } = found.key;
  const tokens: RoleTokens = { owner: [], developer: [], support: [], read_only: [] };
  for (const role of ['owner', 'developer', 'support', 'read_only'] as const) {
    const id = newId('mem');
    const person = {
      name: `Member with ${role}`,
      email: `${id}@shop.example`,
      createdAt: now,
      removedAt: null,
    };
    await memberStore(handle).insert({ id, organizationId, role, ...person });
    for (let issued = 0; issued < ADDRESSES[role]; issued++)
      tokens[role].push(await signInAddressStore(handle).issue(id, now + LONG_MS));
  }
  return tokens;
}

/** Status and code of an answer in one line. */
export function outcome({ status, body }: PageAnswer): string {
  const error = status >= 400 ? text(record(record(body).error).code) : '';
  return `${status} ${error}`.trim();
}

function openBrowser(url: string, always: Readonly<Record<string, string>>): Browser {
  let cookie: string | undefined;
  let csrf = '';

  const send = async (method: string, path: string, sent: Sent = {}): Promise<PageAnswer> => {
    const token = sent.csrf === undefined ? csrf : sent.csrf;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...always,
        ...(cookie === undefined ? {} : { Cookie: cookie }),
        ...(token === null || token === '' || method === 'GET' ? {} : { 'X-CSRF-Token': token }),
        ...(sent.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...sent.headers,
      },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) cookie = set.includes('Max-Age=0;') ? undefined : set.split(';')[0];
    const content = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const body: unknown = isJson ? JSON.parse(content) : content;
    const answer = { status: response.status, headers: response.headers, body };
    if (path.split('?')[0] === SESSION) hold(method, answer);
    return answer;
  };
  return {
    send,
    cookie: () => cookie,
    csrf: () => csrf,
    async signIn(credential, headers = {}) {
      const answer = await send('POST', SESSION, { body: credential, headers, csrf: null });
      if (answer.status === 201) csrf = text(record(answer.body).csrf_token);
      return answer;
    },
  };
}

const validators = responseValidators(dashboardContract.document);

/** @throws Error for an answer outside the contract */
function hold(method: string, { status, body }: PageAnswer): void {
  const row = Object.values(dashboardContract.table).find(one => one.method === method.toLowerCase());
  if (row === undefined || status === 404) return;
  const validate = validators(row.id, status);
  if (validate === undefined) throw new Error(`${row.id} does not declare ${status}`);
  if (!validate(body)) throw new Error(`${row.id} ${status}: ${describeErrors(validate.errors)}`);
}
