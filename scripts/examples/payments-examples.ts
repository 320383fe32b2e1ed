import { type JsonObject, list } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { until } from '../../test/lab/until.ts';
import { type ExampleShop, openExampleShop } from './example-shop.ts';
import { dueOf, type Payer, payerOn } from './payer.ts';
import type { RecordedExamples } from './recorded.ts';

/** Account of the recipient in the contract's examples. Like the one that links pay, it has no other activity. */
const RECIPIENT = 26;
/** Address that a refund goes to. */
const REFUNDED_TO = `0x${'d0'.repeat(20)}`;
const CHAT = 42;
/** Path of a webhook that receives every event. */
const EVERYTHING = '/everything';
/** Amount that no session requests. */
const ODD_AMOUNT = 12_600_000n;

/**
 * Records responses of every operation of the payments platform and bodies of its events. Operations without a step of
 * their own, such as a new GET, are called with their example request at the end.
 */
export async function recordPayments(chain: EmbeddedChain): Promise<ReadonlyMap<string, RecordedExamples>> {
  const receiver = { status: 200 };
  await using shop = await openExampleShop(chain, () => receiver.status);
  const { failedDelivery } = await trade(shop, { chain, receiver });
  await shop.ask('retryWebhookDelivery', { at: { delivery_id: failedDelivery } });
  await notify(shop);
  await proveRecipient(shop);
  const image = await shop.ask('uploadImage');
  shop.known.set('image_id', String(image.id));
  const key = await shop.ask('createApiKey');
  await shop.ask('rollApiKey', { at: { api_key_id: String(key.id) } });
  shop.known.set('api_key_id', String(key.id));
  await askTheRest(shop);
  recordEvents(shop);
  return shop.recorded;
}

/**
 * Runs typical trade in a shop: payments of every outcome, a transfer that matches no session, delivered events, and
 * one delivery that the receiver refuses.
 */
export async function trade(
  shop: ExampleShop,
  { chain, receiver }: { chain: EmbeddedChain; receiver: { status: number } },
): Promise<{ failedDelivery: string }> {
  await open(shop);
  await sellOnChain(shop, payerOn(chain));
  await sellToDepositAddress(shop, payerOn(chain));
  await sellToCustomer(shop);
  await sellOtherwise(shop, payerOn(chain));
  await shop.ask('testWebhook');
  await shop.ask('testWebhook', {
    at: { webhook_id: shop.known.get(EVERYTHING) ?? '' },
    body: {},
    isUnrecorded: true,
  });
  receiver.status = 503;
  const failed = await shop.ask('testWebhook', { body: {}, isUnrecorded: true });
  receiver.status = 200;
  return { failedDelivery: String(failed.delivery_id) };
}

async function open({ ask, known }: ExampleShop): Promise<void> {
  await ask('updateOrganization');
  const webhook = await ask('createWebhook');
  known.set('webhook_id', String(webhook.id));
  const body = { url: `https://books.example/hooks${EVERYTHING}`, events: ['*'] };
  const everything = await ask('createWebhook', { body, isUnrecorded: true });
  known.set(EVERYTHING, String(everything.id));
  const link = await ask('createPaymentLink');
  known.set('payment_link_id', String(link.id)).set('short_code', String(link.short_code));
}

/** Runs a session up to the transfer that completes it. */
async function sellOnChain(shop: ExampleShop, payer: Payer): Promise<void> {
  const session = await shop.ask('createCheckoutSession');
  shop.known.set('checkout_session_id', String(session.id));
  await payer.pay(dueOf(session), shop.now());
  const paid = await until(
    () => shop.peek('getCheckoutSession'),
    ({ status }) => status === 'completed',
  );
  shop.known.set('transaction_id', String(paid.transaction_id));
  await told(shop);
  shop.known.set('event_id', firstId(await shop.peek('listEvents')));
  const deliveries = list(await shop.peek('listWebhookDeliveries'), 'data').filter(entry => isObject(entry));
  // Deliveries of the same millisecond are listed in the order of their random ids.
  const delivery = deliveries.find(entry => entry.event_type === 'checkout.completed');
  shop.known.set('delivery_id', String(delivery?.id));
  await refund(shop, payer);
}

/** Refunds a part of the session. The payer's wallet plays the merchant's, which sends the money. */
async function refund({ ask, peek, known, now }: ExampleShop, payer: Payer): Promise<void> {
  const session_id = known.get('checkout_session_id') ?? '';
  const [destination_address, amount] = [REFUNDED_TO, '2500000'];
  const body = { session_id, amount, destination_address, destination_confirmation: destination_address };
  await ask('getRefundOptions', { query: `session_id=${session_id}` });
  const begun = await ask('createRefund', { body: { ...body, reason: 'Paid twice' } });
  const at = { refund_id: String(begun.id) };
  known.set('refund_id', at.refund_id);
  const tx_hash = await payer.pay(
    { ...dueOf(await peek('getCheckoutSession')), to: REFUNDED_TO, amount },
    now(),
  );
  await ask('completeRefund', { at, body: { tx_hash } });
  await until(
    () => peek('getRefund', { at }),
    ({ status }) => status === 'completed',
  );
  await ask('listRefunds');
  const another = await ask('createRefund', { body, isUnrecorded: true });
  await ask('cancelRefund', { at: { refund_id: String(another.id) } });
}

/** Sells to a deposit address, and prepares its sweep. */
async function sellToDepositAddress({ ask, peek, known, now }: ExampleShop, payer: Payer): Promise<void> {
  const link = { payment_link_id: known.get('payment_link_id') ?? '' };
  const body = { ...link, payment_method: 'deposit_address' };
  const session = await ask('createCheckoutSession', { body, isUnrecorded: true });
  const [to, at] = [String(session.deposit_address), { checkout_session_id: String(session.id) }];
  known.set('address', to);
  await payer.pay({ ...dueOf(session), to }, now());
  await until(
    () => peek('getCheckoutSession', { at }),
    ({ status }) => status === 'completed',
  );
  await ask('listDepositAddresses');
  await ask('getDepositAddress', { at: { address: to } });
  await ask('lookAtDepositAddress');
  await ask('getDepositSeed');
  const [transaction] = list(await ask('prepareSweep'), 'transactions').filter(entry => isObject(entry));
  await payer.send({ to: transaction?.to, data: transaction?.data, gas: 1_000_000 }, now());
  await until(
    // Each request takes time, in which the watcher reads sweeps again.
    () => ask('getDepositAddress', { at: { address: to }, isUnrecorded: true }),
    ({ amount_unswept }) => amount_unswept === '0',
  );
}

/** Sells to a payer who leaves an email address. */
async function sellToCustomer(shop: ExampleShop): Promise<void> {
  const { ask, known } = shop;
  const link = { payment_link_id: known.get('payment_link_id') ?? '' };
  const body = { ...link, customerEmail: 'ada@example.com', customerName: 'Ada Lovelace' };
  const session = await ask('createCheckoutSession', { body, isUnrecorded: true });
  const at = { checkout_session_id: String(session.id) };
  await ask('simulatePayment', { at, isUnrecorded: true });
  known.set('customer_id', String(session.customer_id));
  await told(shop);
  await ask('listCustomers');
  await ask('getCustomer');
}

/** Runs sessions with other outcomes, and the payer's operations. */
async function sellOtherwise(shop: ExampleShop, payer: Payer): Promise<void> {
  const { ask, peek } = shop;
  const begin = async () => ({
    checkout_session_id: String((await ask('createCheckoutSession', { isUnrecorded: true })).id),
  });
  await ask('expireCheckoutSession', { at: await begin() });
  await told(shop);
  await ask('simulatePayment', { at: await begin() });
  await told(shop);
  await ask('simulatePayment', { at: await begin(), body: { outcome: 'failed' }, isUnrecorded: true });
  await told(shop);

  const accepted = await begin();
  await ask('simulatePayment', { at: accepted, body: { outcome: 'underpaid' }, isUnrecorded: true });
  await ask('acceptCheckoutSession', { at: accepted });
  await told(shop);

  const part = await begin();
  await ask('simulatePayment', { at: part, body: { outcome: 'underpaid' }, isUnrecorded: true });
  await told(shop);
  const query = `session_id=${part.checkout_session_id}`;
  const payment = { transaction_id: firstId(await peek('listPaymentTransactions', { query })) };
  await ask('listTransactionCandidates', { at: payment });
  const session_id = (await begin()).checkout_session_id;
  await ask('movePaymentTransaction', { at: payment, body: { session_id } });
  await told(shop);

  const odd = await begin();
  const due = dueOf(await peek('getCheckoutSession', { at: odd }));
  await payer.pay({ ...due, amount: ODD_AMOUNT }, shop.now());
  await until(
    () => peek('listUnmatchedTransfers'),
    page => list(page, 'data').length > 0,
  );
  const transfer = { unmatched_transfer_id: firstId(await ask('listUnmatchedTransfers')) };
  await ask('listTransferCandidates', { at: transfer });
  await ask('dismissUnmatchedTransfer', { at: transfer });
  await ask('restoreUnmatchedTransfer', { at: transfer });
  await ask('assignUnmatchedTransfer', { at: transfer, body: { session_id: odd.checkout_session_id } });
  await told(shop);

  const late = await begin();
  await ask('expireCheckoutSession', { at: late, isUnrecorded: true });
  await payer.pay(dueOf(await peek('getCheckoutSession', { at: late })), shop.now());
  await until(
    () => peek('getCheckoutSession', { at: late }),
    ({ outcome }) => outcome === 'paid_late',
  );
  await told(shop);

  const checkout = await ask('startCheckout');
  const at = { checkout_session_id: String(checkout.id) };
  const message = String(checkout.wallet_message).replace('{address}', payer.address);
  await ask('getCheckout', { at });
  await ask('bindWallet', { at, body: { address: payer.address, signature: await payer.sign(message) } });
  await ask('claimPayment', { at });
  await ask('reportPayment', { at });
  await ask('getCheckoutState', { at });
}

/** Sets up e-mail and the messenger, and links a chat. */
async function notify({ ask, peek, bot }: ExampleShop): Promise<void> {
  await ask('updateNotificationSettings');
  await ask('sendTestEmail');
  const { link_url } = await ask('createMessengerLink');
  bot.write(CHAT, `/start ${new URL(String(link_url)).searchParams.get('start')}`, 'ada');
  await until(
    () => peek('getNotificationSettings'),
    ({ messenger_chat_id }) => messenger_chat_id !== null,
  );
  await ask('updateNotificationSettings', { body: { messenger_enabled: true }, isUnrecorded: true });
  await ask('sendTestMessage');
}

async function proveRecipient({ ask, known }: ExampleShop): Promise<void> {
  const recipient = await ask('createRecipient');
  known.set('recipient_id', String(recipient.id));
  const message = String(recipient.verification_message);
  const signature = await deriveAccounts().signer(RECIPIENT).signMessage({ message });
  await ask('verifyRecipient', { body: { signature } });
}

/** Calls all remaining operations: reads first, deletions last. */
async function askTheRest({ ask, operations, recorded }: ExampleShop): Promise<void> {
  const methods = ['get', 'post', 'patch', 'delete'];
  const left = operations.filter(({ id }) => !recorded.has(id));
  for (const { id } of left.toSorted(
    (a, b) => methods.indexOf(a.row.method) - methods.indexOf(b.row.method),
  )) {
    await ask(id);
  }
}

/** Waits until every event so far is delivered. */
async function told({ peek, known }: ExampleShop): Promise<void> {
  const at = { webhook_id: known.get(EVERYTHING) ?? '' };
  await until(
    async () => {
      const { total_count: events } = await peek('listEvents');
      const deliveries = list(await peek('listWebhookDeliveries', { at, query: 'limit=100' }), 'data');
      return deliveries.filter(one => isObject(one) && one.status === 'success').length === events;
    },
    isTold => isTold,
  );
}

function firstId(page: JsonObject): string {
  const [first] = list(page, 'data');
  return isObject(first) ? String(first.id) : '';
}

function recordEvents({ receiver, recorded, names }: ExampleShop): void {
  const arrivals = receiver.arrivals.filter(({ path }) => path.endsWith(EVERYTHING));
  for (const { headers, body } of arrivals) {
    const event = String(headers['x-service-event']);
    if (!recorded.has(event)) recorded.set(event, { request: JSON.parse(names.shown(body.toString())) });
  }
}
