import { type JsonObject, list, resolve } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import type { Reply, Tester } from '../tester.ts';
import type { Links } from './links-scenario.ts';

/** Operation that answers only for transactions in blocks. */
export const PROOF = 'getPaymentTransactionProof';

/** State of the session and of its payment after each simulated outcome. */
const AFTER: Readonly<Record<string, string>> = {
  completed: 'completed paid',
  failed: 'active failed',
  underpaid: 'active underpaid',
  reorg: 'completed paid',
};

/**
 * Opens sessions with and without a link, expires one, and simulates all outcomes of a payment. Returns the id of a
 * paid session, if any.
 */
export async function sessionsStory(tester: Tester, { fixed }: Links): Promise<string | undefined> {
  const { chain_id = null, token_address = null, recipient_address = null, id = null, mode } = fixed;
  const own = { chain_id, token_address, recipient_address, amount: '77', metadata: { run: 'contract' } };
  const ended = await tester.ask('createCheckoutSession', { body: own }, ['201']);
  const at = { checkout_session_id: String(ended.body.id) };
  await tester.ask('expireCheckoutSession', { at }, ['200']);
  await tester.ask('expireCheckoutSession', { at }, ['400 invalid_status_transition']);
  await tester.ask('createCheckoutSession', { body: { payment_link_id: id, amount: '1' } }, [
    '400 invalid_field_value amount',
  ]);
  await tester.ask('createCheckoutSession', { body: {} }, ['400 missing_required_field']);
  await tester.ask('createCheckoutSession', { body: { payment_link_id: 'pl_nothing' } }, [
    '404 resource_not_found',
  ]);

  let paid: string | undefined;
  for (const outcome of outcomesOf(tester)) {
    const body = { payment_link_id: id, clientReferenceId: 'contract-run', customerEmail: 'ada@example.com' };
    const opened = await tester.ask('createCheckoutSession', { body }, ['201']);
    const session = { checkout_session_id: String(opened.body.id) };
    await readsBack(tester, opened);
    const expected = mode === 'test' ? ['200'] : ['404 resource_not_found'];
    const { body: after } = await tester.ask('simulatePayment', { at: session, body: { outcome } }, expected);
    if (mode !== 'test') return undefined;
    const wanted = AFTER[outcome];
    const is = `${after.status} ${after.payment_status}`;
    if (wanted !== undefined && is !== wanted)
      tester.report(`simulatePayment ${outcome}: ${is}, not ${wanted}`);
    if (after.payment_status === 'underpaid') {
      const { body: accepted } = await tester.ask('acceptCheckoutSession', { at: session }, ['200']);
      if (accepted.status !== 'completed') tester.report(`acceptCheckoutSession: ${accepted.status}`);
      await tester.ask('acceptCheckoutSession', { at: session }, ['400 invalid_status_transition']);
    }
    if (after.status === 'completed') {
      await tester.ask('simulatePayment', { at: session, body: { outcome } }, [
        '400 invalid_status_transition',
      ]);
      paid = session.checkout_session_id;
    }
  }
  return paid;
}

/** Tests the transactions of a paid session: each by itself, and the export with one line per transaction. */
export async function transactionsStory(tester: Tester, sessionId: string): Promise<JsonObject | undefined> {
  const query = `session_id=${sessionId}`;
  const { body } = await tester.ask('listPaymentTransactions', { query }, ['200']);
  const all = list(body, 'data').filter(entry => isObject(entry));
  for (const transaction of all) {
    const at = { transaction_id: String(transaction.id) };
    const { body: one } = await tester.ask('getPaymentTransaction', { at }, ['200']);
    if (JSON.stringify(one) !== JSON.stringify(transaction)) {
      tester.report(`getPaymentTransaction: ${at.transaction_id} differs from its entry in the list`);
    }
    await tryProof(tester, transaction);
  }
  const { text } = await tester.ask('exportPaymentTransactions', { query }, ['200']);
  const lines = text.split('\r\n').filter(line => line !== '');
  if (lines.length !== all.length + 1) {
    tester.report(
      `exportPaymentTransactions?${query}: ${lines.length - 1} lines for ${all.length} transactions`,
    );
  }
  if (all.length === 0) tester.report(`listPaymentTransactions?${query}: a paid session has none`);
  return all[0];
}

/** Tests the proof of a transaction. A simulated payment is in no block, and not every node can prove a block. */
export async function tryProof(tester: Tester, { id, block_number }: JsonObject): Promise<void> {
  const expected = block_number === null ? ['404 resource_not_found'] : ['200', '501 internal_error'];
  await tester.ask(PROOF, { at: { transaction_id: String(id) } }, expected);
}

async function readsBack(tester: Tester, { body: opened }: Reply): Promise<void> {
  const at = { checkout_session_id: String(opened.id) };
  const { body } = await tester.ask('getCheckoutSession', { at }, ['200']);
  if (JSON.stringify(body) !== JSON.stringify(opened)) {
    tester.report(`getCheckoutSession: ${at.checkout_session_id} differs from the response that opened it`);
  }
}

function outcomesOf(tester: Tester): string[] {
  const { body } = tester.operation('simulatePayment');
  const properties = isObject(body?.properties) ? body.properties : {};
  return list(resolve(tester.document, properties.outcome), 'enum').map(String);
}
