import type { Tester } from '../tester.ts';
import type { Links } from './links-scenario.ts';

/** Erases the customer of a checkout that it opens, and checks that the checkout has lost what the customer wrote. */
export async function customersStory(tester: Tester, { fixed }: Links): Promise<void> {
  const body = { payment_link_id: String(fixed.id), customerEmail: 'contract-run@example.com' };
  const { body: opened } = await tester.ask('createCheckoutSession', { body }, ['201']);
  const at = { customer_id: String(opened.customer_id) };
  const { body: known } = await tester.ask('getCustomer', { at }, ['200']);
  if (known.email !== body.customerEmail) tester.report('getCustomer: has another email address');
  await tester.ask('deleteCustomer', { at }, ['200']);
  for (const operation of ['getCustomer', 'deleteCustomer'])
    await tester.ask(operation, { at }, ['404 resource_not_found']);
  const session = { checkout_session_id: String(opened.id) };
  const { body: kept } = await tester.ask('getCheckoutSession', { at: session }, ['200']);
  if (kept.customerEmail !== null || kept.customer_id !== null)
    tester.report('deleteCustomer: the checkout still has the customer');
}
