import { afterAll, beforeAll, expect, test } from 'vitest';
import { list, record } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type DashboardGround, startDashboardGround } from './dashboard-ground.ts';

eachDatabase('the names of members and keys', databases => {
  let ground: DashboardGround;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());

  test('are for every role, and stay after a member was removed and a key was revoked', async () => {
    const secret = ground.key();
    const admin = ground.api(secret);
    const owner = ground.browser();
    await owner.signIn(ground.member(secret));
    const person = { name: 'Ada Lovelace', email: 'ada@shop.example', role: 'support' };
    const invited = record(
      record((await owner.send('POST', '/dashboard/members', { body: person })).body).member,
    );
    const key = record((await admin.post('/api/v1/api-keys', { name: 'Till', permission: 'read' })).body);
    await owner.send('DELETE', `/dashboard/members/${invited.id}`);
    await admin.delete(`/api/v1/api-keys/${key.id}`);
    const reader = ground.browser();
    await reader.signIn(ground.member(secret, 'read_only'));

    const names = list(record((await reader.send('GET', '/dashboard/actors')).body).data);

    expect(names).toEqual(
      expect.arrayContaining([
        { actor: `member:${invited.id}`, name: 'Ada Lovelace', is_removed: true },
        { actor: `api_key:${key.id}`, name: 'Till', is_removed: true },
        { actor: expect.stringMatching(/^member:/), name: 'Member with owner', is_removed: false },
      ]),
    );
    expect(JSON.stringify(names)).not.toContain('ada@');
  });

  test('of another organization are not among them', async () => {
    const [ours, theirs] = [ground.key(), ground.key()];
    await ground.api(theirs).post('/api/v1/api-keys', { name: 'Key of a rival', permission: 'read' });
    const browser = ground.browser();
    await browser.signIn(ground.member(ours));

    expect(JSON.stringify((await browser.send('GET', '/dashboard/actors')).body)).not.toContain('rival');
  });
});
