import { type JsonObject, list } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import type { Tester } from '../tester.ts';
import { tryProof } from './sessions-scenario.ts';

/**
 * Lists and retries set-aside transactions. Assigns an unmatched transfer of test money, if there is one, to a new session
 * with the same recipient that has ended, and moves it to an open one. Never uses real money.
 * Returns the moved transaction, which is in a block, if any.
 */
export async function transfersStory(tester: Tester): Promise<JsonObject | undefined> {
  await tester.ask('listSetAsideTransactions', {}, ['200']);
  await tester.ask('retrySetAsideTransactions', {}, ['200']);
  const { body } = await tester.ask('listUnmatchedTransfers', { query: 'status=open&limit=100' }, ['200']);
  const transfer = list(body, 'data')
    .filter(entry => isObject(entry))
    .find(({ mode }) => mode === 'test');
  if (transfer === undefined) return undefined;
  const { chain_id = null, token_address = null, recipient_address = null, amount = null } = transfer;
  const terms = { chain_id, token_address, recipient_address, amount };
  const begin = async () => {
    const { body: opened } = await tester.ask('createCheckoutSession', { body: terms }, ['201']);
    return String(opened.id);
  };
  const session_id = await begin();
  const at = { unmatched_transfer_id: String(transfer.id) };
  await tester.ask('dismissUnmatchedTransfer', { at }, ['200']);
  await tester.ask('restoreUnmatchedTransfer', { at }, ['200']);
  const candidates = await tester.ask('listTransferCandidates', { at }, ['200']);
  const isFirst = list(candidates.body, 'data').some(one => isObject(one) && one.id === session_id);
  if (!isFirst) tester.report('listTransferCandidates: a session of this price is none');
  await tester.ask('expireCheckoutSession', { at: { checkout_session_id: session_id } }, ['200']);
  const assigned = await tester.ask('assignUnmatchedTransfer', { at, body: { session_id } }, ['200']);
  if (assigned.body.tx_hash !== transfer.tx_hash)
    tester.report('assignUnmatchedTransfer: it is another transfer');
  await tester.ask('assignUnmatchedTransfer', { at, body: { session_id } }, [
    '400 invalid_status_transition',
  ]);
  return movePayment(tester, { from: session_id, to: await begin() });
}

/** States an address for the refund of a payment that came too late, moves the payment to an open session, and returns it. */
async function movePayment(tester: Tester, { from, to }: { from: string; to: string }): Promise<JsonObject> {
  const stated = { address: `0x${'d0'.repeat(20)}` };
  await tester.ask('stateRefundAddress', { at: { checkout_session_id: from }, body: stated }, ['200']);
  const { body } = await tester.ask('listPaymentTransactions', { query: `session_id=${from}` }, ['200']);
  const [payment] = list(body, 'data').filter(entry => isObject(entry));
  const at = { transaction_id: String(payment?.id) };
  const moved = await tester.ask('movePaymentTransaction', { at, body: { session_id: to } }, ['200']);
  if (moved.body.session_id !== to) tester.report('movePaymentTransaction: it is still at its old session');
  await tryProof(tester, moved.body);
  return moved.body;
}
