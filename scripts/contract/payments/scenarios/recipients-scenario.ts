import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { JsonObject } from '#contract/contracts/document.ts';
import type { Tester } from '../tester.ts';

/** Registers a new address on the chain of the run's links and verifies it. The clean-up removes it. */
export async function recipientsStory(tester: Tester, { chain_id = null }: JsonObject): Promise<unknown> {
  const account = privateKeyToAccount(generatePrivateKey());
  const body = { chain_id, address: account.address };
  const { body: made } = await tester.ask('createRecipient', { body }, ['201']);
  await tester.ask('createRecipient', { body }, ['409 duplicate_resource address']);
  const at = { recipient_id: String(made.id) };
  const signature = await account.signMessage({ message: String(made.verification_message) });
  const verified = await tester.ask('verifyRecipient', { at, body: { signature } }, ['200']);
  if (verified.body.verified !== true) tester.report('verifyRecipient: a valid signature is not accepted');
  await tester.ask('verifyRecipient', { at, body: { signature } }, ['400 invalid_field_value signature']);
  return made.id;
}

/** Removes a recipient of the run. */
export async function removeRecipient(tester: Tester, id: unknown): Promise<void> {
  const at = { recipient_id: String(id) };
  await tester.ask('deleteRecipient', { at }, ['200', '404 resource_not_found']);
}
