import { randomBytes } from 'node:crypto';

const BYTES = 32;

/** A new secret of a webhook: `whsec_` and 32 random bytes in Base64. Decision 121. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}
