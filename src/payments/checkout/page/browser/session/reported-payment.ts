import type { components } from '#generated/payments/types.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { ANSWER_MS, type FollowedSession, pathOf, payerApi } from '../api.ts';

type PaymentReport = components['schemas']['PaymentReport'];

const HASH = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** Pauses before the result is read again while nodes are asked. Five requests per minute are allowed (Decision 105). */
const PAUSES_MS = [3_000, 8_000] as const;

/** Reports a payment by what its payer typed: a hash or an address. Returns a text for the payer; never rejects. */
export async function reportedPayment(
  session: FollowedSession,
  typed: string,
  texts: Texts,
): Promise<string> {
  const body = HASH.test(typed)
    ? { tx_hash: typed }
    : ADDRESS.test(typed)
      ? { sender_address: typed }
      : undefined;
  if (body === undefined) {
    return texts.report.form;
  }
  try {
    let result = await report(session, body, texts);
    for (const pauseMs of PAUSES_MS) {
      if (!result.isSearching) break;
      await new Promise(resolve => setTimeout(resolve, pauseMs));
      result = await report(session, body, texts);
    }
    return result.text;
  } catch {
    return texts.report.unreachable;
  }
}

async function report(
  session: FollowedSession,
  body: PaymentReport,
  { report: words }: Texts,
): Promise<{ readonly text: string; readonly isSearching: boolean }> {
  const { data, response, error } = await payerApi.POST(
    '/api/v1/pay/sessions/{checkout_session_id}/reports',
    {
      params: { path: pathOf(session) },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    },
  );
  const refused = (text: string) => ({ text, isSearching: false });
  if (response.status === 429) return refused(words.attempts);
  if (response.status === 400 && error !== undefined) return refused(error.error.message);
  if (data === undefined) return refused(words.notNow);
  await session.learn(data.state).catch(() => undefined);
  const text = words.found[data.found](session.checkout.merchant.name);
  return { text, isSearching: data.found === 'searching' };
}
