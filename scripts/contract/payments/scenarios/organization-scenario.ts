import type { Tester } from '../tester.ts';

/** Changes the settings of the key's organization and mode, and restores them. */
export async function organizationStory(tester: Tester): Promise<void> {
  const { body: before } = await tester.ask('getOrganization', {}, ['200']);
  const { name = null, logo_url = null, recipients_locked = false, origins = [] } = before;
  try {
    const profile = { name: 'Contract run', logo_url: 'https://shop.example/logo.png' };
    const lists = { recipients_locked: true, origins: ['https://shop.example', 'https://shop.example'] };
    const changed = await tester.ask('updateOrganization', { body: { ...profile, ...lists } }, ['200']);
    const shown = [
      changed.body.name,
      changed.body.logo_url,
      changed.body.recipients_locked,
      changed.body.origins,
    ];
    if (String(shown) !== String([profile.name, profile.logo_url, true, 'https://shop.example'])) {
      tester.report('updateOrganization: differs from the request');
    }
    const read = await tester.ask('getOrganization', {}, ['200']);
    if (read.text !== changed.text) tester.report('getOrganization: differs from the response to the change');
    const wrong = { origins: ['https://Shop.example'] };
    await tester.ask('updateOrganization', { body: wrong }, ['400 invalid_field_value origins.0']);
    const nowhere = { default_chain_id: 9007199254740991 };
    const place = '400 invalid_field_value default_chain_id';
    await tester.ask('updateOrganization', { body: nowhere }, [place]);
  } finally {
    const body = { name, logo_url, recipients_locked, origins };
    await tester.ask('updateOrganization', { body }, ['200']);
  }
}
