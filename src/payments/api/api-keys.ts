import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Transaction } from '../../db/open.ts';
import { timestamp } from '../../lib/clock.ts';
import { type ApiKey, included, isActiveKey } from '../keys/api-key.ts';
import { apiKeyStore } from '../keys/api-key-store.ts';
import { issueKey } from '../keys/issue-key.ts';
import type { Mode } from '../model/owner.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { checkDeciding } from './gate/deciding-keys.ts';
import { nullableTimestamp, pagedList, resourceNotFound } from './responses/answers.ts';

/** Operations on API keys. Only the hash of a key is stored (Decision 104). */
export function apiKeyHandlers({ db, seals, clock }: Pick<PaymentsContext, 'db' | 'seals' | 'clock'>) {
  return {
    async listApiKeys({ query }, caller) {
      const keys = await apiKeyStore(db).list(caller.organizationId, modesOf(caller), query);
      const now = clock.now();
      return { status: 200, body: pagedList('/api/v1/api-keys', keys, key => apiKeyBody(key, now)) };
    },

    async createApiKey({ body }, caller) {
      const { name, permission } = body;
      const mode = body.mode ?? caller.mode;
      if (!modesOf(caller).includes(mode))
        throw new InvalidBody('mode', 'must be test for a key of test mode');
      const now = clock.now();
      const expiresAt = endOf(body.expires_at ?? null, now);
      const draft = { organizationId: caller.organizationId, mode, name, permission, expiresAt };
      return caller.commit(async handle => {
        await checkDeciding({ handle, seals, now }, caller, draft);
        const { key, secret } = await issueKey(handle, draft, now);
        return { status: 201, body: createdApiKeyBody(key, secret, now) };
      });
    },

    async revokeApiKey({ path }, caller) {
      return caller.commit(async handle => {
        const now = clock.now();
        const key = await seenBy(handle, caller, path.api_key_id);
        if (key.permission === 'admin' && isActiveKey(key, now)) await keepOneAdmin(handle, key, now);
        await apiKeyStore(handle).revoke(key.id, now);
        return { status: 200, body: { object: 'api_key_revoked', id: key.id, revoked: true } as const };
      });
    },

    async rollApiKey({ path, body }, caller) {
      return caller.commit(async handle => {
        const now = clock.now();
        const old = await seenBy(handle, caller, path.api_key_id);
        if (!isActiveKey(old, now) || old.rolledAt !== null) throw cannotRoll(old);
        await checkDeciding({ handle, seals, now }, caller, old);
        const { key, secret } = await issueKey(handle, old, now);
        await apiKeyStore(handle).roll(old.id, now + body.old_key_expires_in * 1000, now);
        return { status: 201, body: createdApiKeyBody(key, secret, now) };
      });
    },
  } satisfies ApiHandlers;
}

/** Modes in which a key may see and create keys. */
function modesOf({ mode }: ApiCaller): readonly Mode[] {
  return mode === 'live' ? ['live', 'test'] : ['test'];
}

async function seenBy(handle: Transaction, caller: ApiCaller, id: string): Promise<ApiKey> {
  const key = await apiKeyStore(handle).find(caller.organizationId, modesOf(caller), id);
  if (key === undefined) throw resourceNotFound('api_key', id);
  return key;
}

/**
 * Refuses to revoke the last admin key of a mode, because only such a key can create others. A rolled key does not
 * count: it expires soon.
 * @throws HttpError invalid_status_transition
 */
async function keepOneAdmin(handle: Transaction, key: ApiKey, now: number) {
  if (await apiKeyStore(handle).hasOtherAdmin(key, now)) return;
  throw paymentsError(
    'invalid_status_transition',
    `This is the last active admin key of ${key.mode} mode: create or roll one first.`,
  );
}

function cannotRoll({ revokedAt, rolledAt }: ApiKey) {
  const replaced = rolledAt === null ? 'has expired' : 'was rolled before';
  const state = revokedAt === null ? replaced : 'was revoked';
  return paymentsError('invalid_status_transition', `This API key ${state} and cannot be rolled.`);
}

function endOf(text: string | null, now: number): number | null {
  const end = text === null ? null : Date.parse(text);
  if (end !== null && !(end > now)) throw new InvalidBody('expires_at', 'must be in the future');
  return end;
}

/** An API key in the contract's form; `now` (UTC ms) decides `is_active`. */
function apiKeyBody(key: ApiKey, now: number): PaymentsSchemas['ApiKey'] {
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    key_prefix: key.prefix,
    last_four: key.lastFour,
    permission: key.permission,
    permissions: included(key.permission),
    mode: key.mode,
    is_active: isActiveKey(key, now),
    expires_at: nullableTimestamp(key.expiresAt),
    last_used_at: nullableTimestamp(key.lastUsedAt),
    created_at: timestamp(key.createdAt),
    revoked_at: nullableTimestamp(key.revokedAt),
  };
}

/** An API key with its secret, which only the answer to its creation contains. */
function createdApiKeyBody(key: ApiKey, secret: string, now: number): PaymentsSchemas['CreatedApiKey'] {
  return { ...apiKeyBody(key, now), key: secret };
}
