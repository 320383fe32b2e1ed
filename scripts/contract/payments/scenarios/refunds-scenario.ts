import type { Tester } from '../tester.ts';
import type { Links } from './links-scenario.ts';

const DESTINATION = `0x${'d0'.repeat(20)}`;
const TWICE = { destination_address: DESTINATION, destination_confirmation: DESTINATION };

/**
 * Refunds a session that was paid by a simulation: cancels one refund, and names a transaction that does not exist for
 * another one. Returns the id of the latter. Never uses real money.
 */
export async function refundsStory(tester: Tester, { fixed }: Links): Promise<string | undefined> {
  await tester.ask('createRefund', { body: {} }, ['400 missing_required_field']);
  await tester.ask('createRefund', { body: { session_id: 'cs_nothing', ...TWICE } }, [
    '404 resource_not_found',
  ]);
  if (fixed.mode !== 'test') return undefined;
  const { body: opened } = await tester.ask(
    'createCheckoutSession',
    { body: { payment_link_id: String(fixed.id) } },
    ['201'],
  );
  const session_id = String(opened.id);
  const at = { checkout_session_id: session_id };
  await tester.ask('mailRefundLink', { at }, ['400 invalid_status_transition']);
  await tester.ask('simulatePayment', { at, body: { outcome: 'completed' } }, ['200']);
  // The payer left no e-mail address, so no mail is sent.
  await tester.ask('mailRefundLink', { at }, ['200']);
  await tester.ask('getRefundOptions', { query: `session_id=${session_id}` }, ['200']);
  const part = { session_id, amount: '1', ...TWICE };
  const cancelled = await tester.ask('createRefund', { body: part }, ['201']);
  const refund_id = String(cancelled.body.id);
  await tester.ask('cancelRefund', { at: { refund_id } }, ['200']);
  await tester.ask('cancelRefund', { at: { refund_id } }, ['400 invalid_status_transition']);

  const { body: rest } = await tester.ask('createRefund', { body: { session_id, ...TWICE } }, ['201']);
  const named = { refund_id: String(rest.id) };
  const { body: pending } = await tester.ask(
    'completeRefund',
    { at: named, body: { tx_hash: `0x${'4f'.repeat(32)}` } },
    ['200'],
  );
  if (pending.status !== 'pending') tester.report(`completeRefund: it is ${pending.status}`);
  await tester.ask('cancelRefund', { at: named }, ['400 invalid_status_transition']);
  await tester.ask('createRefund', { body: part }, ['400 invalid_status_transition']);
  return named.refund_id;
}
