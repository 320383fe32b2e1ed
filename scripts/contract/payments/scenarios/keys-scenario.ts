import { randomBase62 } from '#lib/ids.ts';
import { tryPermission } from '../attempts.ts';
import type { Drive } from '../tester.ts';

/** Makes keys, uses them for what they may do and what not, replaces one and ends it. They are revoked by who cleans up. */
export async function keysStory(drive: Drive): Promise<void> {
  const name = `Contract run ${randomBase62(8)}`;
  const reader = await drive.ask('createApiKey', { body: { name, permission: 'read' } }, ['201']);
  const readKey = String(reader.body.key);
  await drive.ask('listPaymentLinks', { key: readKey }, ['200']);
  for (const operation of drive.operations) await tryPermission(drive, operation, readKey);

  const writer = await drive.ask('createApiKey', { body: { name, permission: 'write' } }, ['201']);
  const at = { api_key_id: String(writer.body.id) };
  const rolled = await drive.ask('rollApiKey', { at, body: { old_key_expires_in: 0 } }, ['201']);
  await drive.ask('listPaymentLinks', { key: String(writer.body.key) }, ['401 key_expired']);
  await drive.ask('listPaymentLinks', { key: String(rolled.body.key) }, ['200']);
  await drive.ask('revokeApiKey', { at: { api_key_id: String(rolled.body.id) } }, ['200']);
  await drive.ask('listPaymentLinks', { key: String(rolled.body.key) }, ['401 key_revoked']);
  const past = { name, permission: 'read', expires_at: '2020-01-01T00:00:00Z' };
  await drive.ask('createApiKey', { body: past }, ['400 invalid_field_value expires_at']);
}
