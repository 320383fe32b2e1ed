import { REPORT_WORDS } from '#payments/browser/candidate-words.ts';
import { ANSWER_MS, type FollowedSession, pathOf, payerApi } from '../api.ts';

const HASH = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Reports a payment by what its payer typed: a hash or an address. Returns a text for the payer; never rejects. */
export async function reportedPayment(session: FollowedSession, typed: string): Promise<string> {
  const body = HASH.test(typed)
    ? { tx_hash: typed }
    : ADDRESS.test(typed)
      ? { sender_address: typed }
      : undefined;
  if (body === undefined) {
    return 'A hash is 0x followed by 64 hexadecimal digits, an address 0x followed by 40.';
  }
  try {
    const { data, response } = await payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/reports', {
      params: { path: pathOf(session) },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status === 429) return 'Too many attempts. Please wait a minute and try again.';
    if (data === undefined) return 'The server could not look for it. Please try again.';
    await session.learn(data.state).catch(() => undefined);
    return REPORT_WORDS[data.found](session.checkout.merchant.name);
  } catch {
    return 'The server could not be reached. Please try again.';
  }
}
