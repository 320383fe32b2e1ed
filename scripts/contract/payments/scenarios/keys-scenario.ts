import { randomBase62 } from '#lib/ids.ts';
import { tryPermission } from '../attempts.ts';
import type { Tester } from '../tester.ts';

/**
 * Creates keys, uses them within and beyond their permissions, replaces one and revokes it. The clean-up revokes the
 * others.
 */
export async function keysStory(tester: Tester): Promise<void> {
  const name = `Contract run ${randomBase62(8)}`;
  const reader = await tester.ask('createApiKey', { body: { name, permission: 'read' } }, ['201']);
  const readKey = String(reader.body.key);
  await tester.ask('listPaymentLinks', { key: readKey }, ['200']);
  for (const operation of tester.operations) await tryPermission(tester, operation, readKey);

  const writer = await tester.ask('createApiKey', { body: { name, permission: 'write' } }, ['201']);
  const at = { api_key_id: String(writer.body.id) };
  const rolled = await tester.ask('rollApiKey', { at, body: { old_key_expires_in: 0 } }, ['201']);
  await tester.ask('listPaymentLinks', { key: String(writer.body.key) }, ['401 key_expired']);
  await tester.ask('listPaymentLinks', { key: String(rolled.body.key) }, ['200']);
  await tester.ask('revokeApiKey', { at: { api_key_id: String(rolled.body.id) } }, ['200']);
  await tester.ask('listPaymentLinks', { key: String(rolled.body.key) }, ['401 key_revoked']);
  const past = { name, permission: 'read', expires_at: '2020-01-01T00:00:00Z' };
  await tester.ask('createApiKey', { body: past }, ['400 invalid_field_value expires_at']);
}
