import { list } from '#contract/contracts/document.ts';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { systemClock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import { pacedSender, type RecordingClient } from '../client.ts';
import type { ContractReport } from '../run.ts';
import { type Known, tryMethods, tryOperation, tryReading } from './attempts.ts';
import { isPagedList, tryList } from './lists.ts';
import type { Operation } from './operation.ts';
import { customersStory } from './scenarios/customers-scenario.ts';
import { depositsStory } from './scenarios/deposits-scenario.ts';
import { imagesStory } from './scenarios/images-scenario.ts';
import { keysStory } from './scenarios/keys-scenario.ts';
import { linksStory } from './scenarios/links-scenario.ts';
import { notificationsStory } from './scenarios/notifications-scenario.ts';
import { organizationStory } from './scenarios/organization-scenario.ts';
import { payerStory } from './scenarios/payer-scenario.ts';
import { recipientsStory, removeRecipient } from './scenarios/recipients-scenario.ts';
import { refundsStory } from './scenarios/refunds-scenario.ts';
import { PROOF, sessionsStory, transactionsStory } from './scenarios/sessions-scenario.ts';
import { transfersStory } from './scenarios/transfers-scenario.ts';
import { webhooksStory } from './scenarios/webhooks-scenario.ts';
import { type Tester, testerOf } from './tester.ts';

type Ids = Readonly<Record<string, string>>;

/**
 * Tests every operation of the payments platform with a key with all permissions: the life of its own records, and all
 * refusals. At the end it removes the links, webhooks, keys and recipients that it created and restores the
 * notification settings. Sessions and payments stay, because nothing can remove them.
 */
export async function runPayments(client: RecordingClient, key: string): Promise<ContractReport> {
  const filled = new Map<string, number>();
  const findings: string[] = [];
  const send = pacedSender(client, { sleep: ms => systemClock.sleep(ms) });
  const tester = await testerOf(paymentsContract, { key, send, filled, findings });
  for (const { id } of tester.operations) filled.set(id, 0);
  try {
    const ids = await makeRecords(tester);
    await read(tester, ids, filled.get(PROOF) !== 0);
    const known: Known = new Set();
    for (const operation of tester.operations) await tryOperation(tester, operation, known);
    for (const path of new Set(tester.operations.map(one => one.path))) await tryMethods(tester, path);
    await tester.askNowhere('GET', '/api/v1/no/such/operation');
    await tester.askNowhere('GET', '/no/such/page');
  } finally {
    await cleanUp(tester);
  }
  return { filled, findings };
}

/** Creates the records that the operations' paths need, as far as possible. */
async function makeRecords(tester: Tester): Promise<Ids> {
  await notificationsStory(tester);
  await organizationStory(tester);
  await imagesStory(tester);
  const webhook = await webhooksStory(tester);
  const links = await linksStory(tester);
  if (links === undefined) return idsOf({ webhook_id: webhook?.id });
  const paid = await sessionsStory(tester, links);
  await payerStory(tester, links);
  const moved = await transfersStory(tester);
  const refund = await refundsStory(tester, links);
  const address = await depositsStory(tester, links);
  await customersStory(tester, links);
  await keysStory(tester);
  const recipient = await recipientsStory(tester, links.fixed);
  const session = paid ?? tester.made.findLast(({ object }) => object === 'checkout_session')?.id;
  const transaction = paid === undefined ? undefined : await transactionsStory(tester, paid);
  return idsOf({
    webhook_id: webhook?.id,
    payment_link_id: links.fixed.id,
    short_code: links.fixed.short_code,
    checkout_session_id: session,
    session_id: session,
    transaction_id: moved?.id ?? transaction?.id,
    recipient_id: recipient,
    refund_id: refund,
    address,
    customer_id: await newestOf(tester, 'listCustomers'),
    event_id: await newestOf(tester, 'listEvents'),
    delivery_id: await newestOf(tester, 'listWebhookDeliveries', { webhook_id: String(webhook?.id) }),
  });
}

/** Id of the first record of a list; undefined when it is empty. */
async function newestOf(tester: Tester, operation: string, at: Ids = {}): Promise<unknown> {
  const { body } = await tester.ask(operation, { at }, ['200']);
  const [newest] = list(body, 'data');
  return isObject(newest) ? newest.id : undefined;
}

/** Drops missing ids. */
function idsOf(ids: Readonly<Record<string, unknown>>): Ids {
  return Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => (typeof id === 'string' ? [[name, id]] : [])),
  );
}

/** Tests every GET whose path values are known, that of a proof only if the transaction has one. */
async function read(tester: Tester, ids: Ids, hasProof: boolean): Promise<void> {
  const reads = tester.operations.filter(({ id, row }) => row.method === 'get' && (id !== PROOF || hasProof));
  for (const operation of reads.filter(one => isKnown(one, ids))) {
    await tryReading(tester, operation, ids);
    if (isPagedList(operation)) await tryList(tester, operation, ids);
  }
}

function isKnown({ parameters }: Operation, ids: Ids): boolean {
  return parameters.every(({ in: place, name }) => place !== 'path' || ids[String(name)] !== undefined);
}

/** Removes the records of the run. Revoking an expired key works too. */
async function cleanUp(tester: Tester): Promise<void> {
  for (const { object, id, status } of tester.made) {
    const gone = ['200', '404 resource_not_found'];
    if (object === 'payment_link') {
      await tester.ask('deletePaymentLink', { at: { payment_link_id: String(id) } }, gone);
    }
    if (object === 'recipient') await removeRecipient(tester, id);
    if (object === 'webhook') await tester.ask('deleteWebhook', { at: { webhook_id: String(id) } }, gone);
    if (object === 'api_key') await tester.ask('revokeApiKey', { at: { api_key_id: String(id) } }, gone);
    if (object === 'checkout_session' && status === 'active') {
      const at = { checkout_session_id: String(id) };
      await tester.ask('expireCheckoutSession', { at }, ['200', '400 invalid_status_transition']);
    }
  }
}
