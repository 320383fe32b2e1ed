import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '../../../src/db/query.ts';
import { NATIVE_COIN } from '../../../src/payments/model/payment-chain.ts';
import { tokenOf } from '../../lab/dashboard-session.ts';
import { list, record, text } from '../../lab/json.ts';
import { LOOPBACK_ONLY } from '../../lab/payments-service.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  API,
  type Browser,
  type DashboardGround,
  outcome,
  type PageAnswer,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const MEMBERS = '/dashboard/members';
const MAILS = '/dashboard/sign-in-mails';
const ADA = { name: 'Ada Byron', email: 'Ada@Books.example', role: 'support' };
const KNOWN = `0x${'4d'.repeat(20)}`;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A mail server that nobody runs: the mails stay queued. */
const MAILED = { ...LOOPBACK_ONLY, mail: { smtp: 'smtp://127.0.0.1:9', from: 'shop@books.example' } };

eachDatabase('members of an organization', databases => {
  let ground: DashboardGround;
  let secret: string;
  let owner: Browser;
  let ownerId: string;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());
  beforeEach(async () => {
    secret = ground.key();
    owner = ground.browser();
    const { body } = await owner.signIn(ground.member(secret));
    ownerId = text(record(record(body).member).id);
  });

  const members = async () => list(record((await owner.send('GET', MEMBERS)).body).data).map(record);
  const invite = (person: object = ADA) => owner.send('POST', MEMBERS, { body: person });
  const memberIn = ({ body }: PageAnswer) => record(record(body).member);
  const addressIn = ({ body }: PageAnswer) => ({ token: tokenOf(text(record(body).sign_in_url)) });

  test('are invited by an address that signs them in once, within three days', async () => {
    const invitation = await invite();
    ground.clock.advance(3 * DAY_MS - 1);
    const browser = ground.browser();
    const first = await browser.signIn(addressIn(invitation));
    const second = await ground.browser().signIn(addressIn(invitation));

    expect(invitation.status).toBe(201);
    expect(memberIn(invitation)).toMatchObject({
      name: 'Ada Byron',
      email: 'ada@books.example',
      role: 'support',
    });
    expect(first.body).toMatchObject({ member: { id: memberIn(invitation).id }, permission: 'write' });
    expect(outcome(second)).toBe('401 key_invalid');
  });

  test('cannot use an invitation after three days, and get another one', async () => {
    const late = await invite();
    ground.clock.advance(3 * DAY_MS);
    const refused = await ground.browser().signIn(addressIn(late));
    await owner.signIn(ground.member(secret));

    const again = await owner.send('POST', `${MEMBERS}/${memberIn(late).id}/sign-in-address`);

    expect(outcome(refused)).toBe('401 key_invalid');
    expect((await ground.browser().signIn(addressIn(again))).status).toBe(201);
  });

  test('are listed for every member, with their roles, oldest first', async () => {
    const reader = ground.browser();
    await reader.signIn(ground.member(secret, 'read_only'));

    const seen = list(record((await reader.send('GET', MEMBERS)).body).data).map(record);

    expect(seen.map(({ role }) => role).sort()).toEqual(['developer', 'owner', 'read_only', 'support']);
    expect(seen).toEqual(await members());
  });

  test('are changed by owners only', async () => {
    const { id } = memberIn(await invite());
    for (const role of ['developer', 'support', 'read_only'] as const) {
      const other = ground.browser();
      await other.signIn(ground.member(secret, role));
      const answers = [
        await other.send('POST', MEMBERS, { body: { ...ADA, email: 'other@books.example' } }),
        await other.send('PATCH', `${MEMBERS}/${id}`, { body: { role: 'owner' } }),
        await other.send('DELETE', `${MEMBERS}/${id}`),
        await other.send('POST', `${MEMBERS}/${id}/sign-in-address`),
      ];
      expect(new Set(answers.map(outcome))).toEqual(new Set(['403 insufficient_permissions']));
    }
    expect((await members()).length).toBe(5);
  });

  test('who are no owners send money to known recipients only, and make no key that may decide', async () => {
    const developer = ground.browser();
    await developer.signIn(ground.member(secret, 'developer'));
    const [chain] = list(record((await owner.send('GET', `${API}/chains`)).body).data).map(record);
    const link = (browser: Browser, recipient: string) =>
      browser.send('POST', `${API}/payment-links`, {
        body: {
          name: 'Pens',
          amount: '5',
          chain_id: chain?.id,
          token_address: NATIVE_COIN,
          recipient_address: recipient,
        },
      });
    const key = (permission: string) =>
      developer.send('POST', `${API}/api-keys`, { body: { name: 'Till', permission } });
    const [admin] = list(record((await owner.send('GET', `${API}/api-keys`)).body).data).map(record);

    const before = await link(developer, KNOWN);
    await link(owner, KNOWN);
    const after = await link(developer, KNOWN);
    const roll = (id: unknown) =>
      developer.send('POST', `${API}/api-keys/${id}/roll`, { body: { old_key_expires_in: 0 } });
    const write = record(
      (await owner.send('POST', `${API}/api-keys`, { body: { name: 'Shop', permission: 'write' } })).body,
    );
    const refused = [
      await key('admin'),
      await roll(admin?.id),
      // While the list is not locked, a program with such a key adds the recipients that it names.
      await key('write'),
      await roll(write.id),
    ];
    await owner.send('PATCH', `${API}/organization`, { body: { recipients_locked: true } });
    const made = [await key('read'), await key('write'), await roll(write.id)];

    expect(outcome(before)).toBe('400 invalid_field_value');
    expect(after.status).toBe(201);
    expect(new Set(refused.map(outcome))).toEqual(new Set(['403 insufficient_permissions']));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  test('have a new role at once, in the sessions that are open', async () => {
    const invitation = await invite();
    const browser = ground.browser();
    await browser.signIn(addressIn(invitation));
    const path = `${MEMBERS}/${memberIn(invitation).id}`;

    const changed = await owner.send('PATCH', path, { body: { role: 'developer', name: 'Ada' } });
    const { body } = await browser.send('GET', SESSION);

    expect(changed.body).toMatchObject({ name: 'Ada', role: 'developer' });
    expect(body).toMatchObject({ permission: 'admin', member: { name: 'Ada', role: 'developer' } });
  });

  test('always include an owner: the last one is neither removed nor given another role', async () => {
    const own = `${MEMBERS}/${ownerId}`;
    const refused = [
      await owner.send('DELETE', own),
      await owner.send('PATCH', own, { body: { role: 'developer' } }),
    ];
    await invite({ ...ADA, role: 'owner' });

    const left = await owner.send('DELETE', own);

    expect(refused.map(outcome)).toEqual(Array(2).fill('400 invalid_status_transition'));
    expect(left.status).toBe(200);
  });

  test('get at most 50 invitations and addresses an hour from one organization', async () => {
    const { id } = memberIn(await invite());
    const send = () => owner.send('POST', `${MEMBERS}/${id}/sign-in-address`);
    let last = await send();
    for (let sent = 2; sent < 50; sent++) last = await send();

    const refused = [await send(), await invite({ ...ADA, email: 'eve@books.example' })];
    ground.clock.advance(60 * MINUTE_MS);
    const later = await send();

    expect(last.status).toBe(200);
    expect(refused.map(outcome)).toEqual(Array(2).fill('429 rate_limit_exceeded'));
    expect(refused[0]?.headers.get('retry-after')).toBe('3600');
    expect(later.status).toBe(200);
  });

  test('sign in by the last address that they were sent, and still by mail', async () => {
    const email = `${crypto.randomUUID()}@books.example`;
    const first = await invite({ ...ADA, email });
    const again = () => owner.send('POST', `${MEMBERS}/${memberIn(first).id}/sign-in-address`);
    await again();
    const last = await again();
    const notices = async () => (await rowsOf(ground.db, 'select id from notices')).length;
    const before = await notices();
    await ground.browser().send('POST', MAILS, { body: { email }, csrf: null });

    expect(await notices()).toBe(before + 1);
    expect(outcome(await ground.browser().signIn(addressIn(first)))).toBe('401 key_invalid');
    expect((await ground.browser().signIn(addressIn(last))).status).toBe(201);
  });

  test('who lose the role of an owner get the mail about it', async () => {
    const { id } = memberIn(await invite({ ...ADA, role: 'owner' }));
    const notices = async () => (await rowsOf(ground.db, 'select id from notices')).length;
    const before = await notices();

    await owner.send('PATCH', `${MEMBERS}/${id}`, { body: { role: 'read_only' } });

    expect(await notices()).toBe(before + 2); // the owner who did it, and the one who was
  });

  test('of which one is removed lose the e-mail address and keep the name for the records', async () => {
    const { id } = memberIn(await invite());

    await owner.send('DELETE', `${MEMBERS}/${id}`);
    const again = await invite();

    const rows = await rowsOf(ground.db, 'select name, email from members where id = ?', [text(id)]);
    expect(rows).toEqual([{ name: 'Ada Byron', email: null }]);
    expect(again.status).toBe(201);
  });

  test('have different e-mail addresses, in any letter case', async () => {
    await invite();

    expect(outcome(await invite({ ...ADA, email: 'ADA@books.EXAMPLE' }))).toBe('409 duplicate_resource');
    expect(outcome(await invite({ ...ADA, email: 'ada at books' }))).toBe('400 invalid_field_value');
  });

  test('of another organization look like missing ones', async () => {
    const stranger = ground.browser();
    await stranger.signIn(ground.member(ground.key()));

    const answers = [
      await stranger.send('PATCH', `${MEMBERS}/${ownerId}`, { body: { name: 'Mine' } }),
      await stranger.send('DELETE', `${MEMBERS}/${ownerId}`),
      await stranger.send('POST', `${MEMBERS}/${ownerId}/sign-in-address`),
    ];

    expect(new Set(answers.map(outcome))).toEqual(new Set(['404 resource_not_found']));
  });

  test('are mailed at most three addresses that are valid at once, and the answer says nothing', async () => {
    const email = `${crypto.randomUUID()}@books.example`;
    const { id } = memberIn(await invite({ ...ADA, email }));
    ground.clock.advance(3 * DAY_MS);
    const request = (of: string) => ground.browser().send('POST', MAILS, { body: { email: of }, csrf: null });
    const valid = async () =>
      (
        await rowsOf(ground.db, 'select 1 from sign_in_addresses where member_id = ? and expires_at > ?', [
          text(id),
          ground.clock.now(),
        ])
      ).length;

    const answers = [];
    for (let sent = 0; sent < 5; sent++) answers.push(await request(email.toUpperCase()));
    const unknown = await request('nobody@books.example');

    expect(new Set(answers.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set([JSON.stringify(unknown.body)]),
    );
    expect(await valid()).toBe(3);
    ground.clock.advance(15 * MINUTE_MS);
    expect(await valid()).toBe(0);
  });
});

eachDatabase('with a mail server', databases => {
  test('an invitation is mailed to the member, and not shown to the owner, who gets a mail about it', async () => {
    const ground = await startDashboardGround(await databases.create('payments'), {
      outgoing: MAILED,
    });
    const owner = ground.browser();
    await owner.signIn(ground.member(ground.key()));

    const { status, body } = await owner.send('POST', MEMBERS, { body: ADA });

    const notices = await rowsOf(ground.db, "select id from notices where channel = 'email'");
    await ground.close();
    expect([status, record(body).sign_in_url]).toEqual([201, null]);
    expect(notices).toHaveLength(2);
  });
});
