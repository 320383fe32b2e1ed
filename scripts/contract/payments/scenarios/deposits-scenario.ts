import type { Tester } from '../tester.ts';
import type { Links } from './links-scenario.ts';

/**
 * Opens a session with a deposit address, and prepares a sweep. Returns the address; undefined where the chain offers none.
 * Sends nothing.
 */
export async function depositsStory(tester: Tester, { fixed }: Links): Promise<unknown> {
  const body = { payment_link_id: String(fixed.id), payment_method: 'deposit_address' };
  const { body: opened } = await tester.ask('createCheckoutSession', { body }, ['201']);
  const { deposit_address: address } = opened;
  const chain_id = Number(opened.chain_id);
  await tester.ask('prepareSweep', { body: { chain_id, addresses: [`0x${'d0'.repeat(20)}`] } }, [
    '400 invalid_field_value',
  ]);
  // Without a factory on the chain, there is nothing to call.
  await tester.ask('prepareSweep', { body: { chain_id } }, ['200', '400 invalid_status_transition']);
  return address;
}
