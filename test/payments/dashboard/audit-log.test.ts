import { afterAll, beforeAll, expect, test } from 'vitest';
import { list, record } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { API, type DashboardGround, outcome, SESSION, startDashboardGround } from './dashboard-ground.ts';

const LINK = { name: 'Field notebooks', amount: '7' };

eachDatabase('the audit log', databases => {
  let ground: DashboardGround;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());

  const events = async (secret: string, query = '') =>
    list(record((await ground.api(secret).get(`/api/v1/audit-events${query}`)).body).data).map(record);

  test('names who made a change, what, when and from where', async () => {
    const secret = ground.key();
    const admin = ground.api(secret);
    const browser = ground.browser({ 'X-Forwarded-For': '203.0.113.9' });
    const member = `member:${record(record((await browser.signIn(ground.member(secret))).body).member).id}`;
    ground.clock.advance(1_000);
    const link = record((await browser.send('POST', `${API}/payment-links`, { body: LINK })).body);
    ground.clock.advance(1_000);
    await admin.patch(`/api/v1/payment-links/${link.id}`, { name: 'Ruled notebooks' });
    ground.clock.advance(1_000);
    const session = record(
      (await admin.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body,
    );
    ground.clock.advance(1_000);
    await admin.post(`/api/v1/checkout-sessions/${session.id}/expire`, {});
    ground.clock.advance(1_000);
    const person = { name: 'Ada', email: 'ada@shop.example', role: 'support' };
    const invited = record(
      record((await browser.send('POST', '/dashboard/members', { body: person })).body).member,
    );
    ground.clock.advance(1_000);
    await browser.send('DELETE', SESSION);

    const found = await events(secret);

    const key = expect.stringMatching(/^api_key:ak_/);
    expect(found.map(({ type, actor, resource_id }) => [type, actor, resource_id])).toEqual([
      ['session.delete', member, null],
      ['member.create', member, invited.id],
      ['checkout_session.expire', key, session.id],
      ['checkout_session.create', key, session.id],
      ['payment_link.update', key, link.id],
      ['payment_link.create', member, link.id],
      ['session.create', member, null],
    ]);
    expect(found.find(({ type }) => type === 'payment_link.create')).toMatchObject({
      object: 'audit_event',
      mode: 'test',
      address: '203.0.113.9',
      method: 'POST',
      path: '/api/v1/payment-links',
      status: 201,
    });
    expect(JSON.stringify(found)).not.toMatch(/notebooks|ada@/);
  });

  test('is filtered by type, record, actor and time', async () => {
    const secret = ground.key();
    const admin = ground.api(secret);
    const draft = { name: 'Second key', permission: 'admin' };
    const { id: keyId, key: other } = record((await admin.post('/api/v1/api-keys', draft)).body);
    const since = new Date(ground.clock.now() + 1).toISOString();
    ground.clock.advance(1_000);
    const first = record((await admin.post('/api/v1/payment-links', LINK)).body).id;
    const second = record((await ground.api(String(other)).post('/api/v1/payment-links', LINK)).body).id;

    const ids = async (query: string) => (await events(secret, query)).map(({ resource_id }) => resource_id);
    expect(await ids('?type=api_key.create')).toEqual([keyId]);
    expect(await ids(`?resource_id=${first}`)).toEqual([first]);
    expect(await ids(`?actor=api_key:${keyId}`)).toEqual([second]);
    expect(new Set(await ids(`?from=${since}`))).toEqual(new Set([first, second]));
    expect(await ids(`?to=${since}`)).toEqual([keyId]);
  });

  test('has nothing of a refused request, of a repeated answer or of another organization', async () => {
    const secret = ground.key();
    const admin = ground.api(secret);
    const once = { 'Idempotency-Key': 'once' };
    await admin.post('/api/v1/payment-links', { name: 'No amount', chain_id: 'x' });
    await admin.post('/api/v1/payment-links', LINK, once);
    await admin.post('/api/v1/payment-links', LINK, once);
    await ground.api(ground.key()).post('/api/v1/payment-links', LINK);

    expect((await events(secret)).map(({ type }) => type)).toEqual(['payment_link.create']);
  });

  test('is for owners, developers and keys of administrators only', async () => {
    const secret = ground.key();
    const read = async (role: 'developer' | 'support') => {
      const browser = ground.browser();
      await browser.signIn(ground.member(secret, role));
      return outcome(await browser.send('GET', `${API}/audit-events`));
    };

    expect(await read('developer')).toBe('200');
    expect(await read('support')).toBe('403 insufficient_permissions');
  });
});
