import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { type ApiKey, included, isActiveKey } from '../../keys/api-key.ts';

/** An API key as the contract shows it; `now` (UTC ms) decides whether it is active. */
export function apiKeyBody(key: ApiKey, now: number): PaymentsSchemas['ApiKey'] {
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
    expires_at: timeText(key.expiresAt),
    last_used_at: timeText(key.lastUsedAt),
    created_at: new Date(key.createdAt).toISOString(),
    revoked_at: timeText(key.revokedAt),
  };
}

/** The same with its secret, for the one answer that holds it. */
export function createdApiKeyBody(
  key: ApiKey,
  secret: string,
  now: number,
): PaymentsSchemas['CreatedApiKey'] {
  return { ...apiKeyBody(key, now), key: secret };
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
