import type { Tester } from '../tester.ts';

/** Changes the settings of the key's organization and mode, and restores them. */
export async function organizationStory(tester: Tester): Promise<void> {
  const { body: before } = await tester.ask('getOrganization', {}, ['200']);
  const { recipients_locked = false, origins = [] } = before;
  try {
    const wanted = { recipients_locked: true, origins: ['https://shop.example', 'https://shop.example'] };
    const changed = await tester.ask('updateOrganization', { body: wanted }, ['200']);
    if (changed.body.recipients_locked !== true || String(changed.body.origins) !== 'https://shop.example') {
      tester.report('updateOrganization: it is not what was asked for');
    }
    const read = await tester.ask('getOrganization', {}, ['200']);
    if (read.text !== changed.text) tester.report('getOrganization: is not what the change answered');
    const wrong = { origins: ['https://Shop.example'] };
    await tester.ask('updateOrganization', { body: wrong }, ['400 invalid_field_value origins.0']);
  } finally {
    await tester.ask('updateOrganization', { body: { recipients_locked, origins } }, ['200']);
  }
}
