import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, LIVE_CHAIN, TEST_CHAIN, TOKEN } from '../../support/payments-api.ts';

const PATH = '/api/v1/recipients';
const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const ORGANIZATION = '/api/v1/organization';
const OWN = `0x${'0a'.repeat(20)}`;
const FOREIGN = `0x${'0b'.repeat(20)}`;
const LOCKED = '400 invalid_field_value recipient_address';

eachPaymentsApi('locked recipients', apiTest => {
  const terms = (recipient_address: string) => ({
    token_address: TOKEN,
    chain_id: TEST_CHAIN,
    recipient_address,
    amount: '2000000',
  });

  const test = apiTest
    /** A merchant with `OWN` on a locked list, and a write key of it. */
    .extend('locked', ({ api }) => async (recipientAddress: string | null = null) => {
      const shop = await api.merchant('test', { chainId: TEST_CHAIN, tokenAddress: TOKEN, recipientAddress });
      const link = record((await shop.post(LINKS, { name: 'A', ...terms(OWN) })).body);
      await shop.patch(ORGANIZATION, { recipients_locked: true });
      return { shop, link, thief: await shop.withKey({ permission: 'write' }) };
    });

  test('a stolen write key cannot redirect money by a new link, a changed link or a session', async ({
    locked,
  }) => {
    const { shop, link, thief } = await locked();

    const answers = [
      await thief.post(LINKS, { name: 'B', ...terms(FOREIGN) }),
      await thief.patch(`${LINKS}/${text(link.id)}`, { recipient_address: FOREIGN }),
      await thief.post(SESSIONS, terms(FOREIGN)),
    ];

    expect(answers.map(errorOf)).toEqual([LOCKED, LOCKED, LOCKED]);
    const { data } = record((await shop.get(PATH)).body);
    expect(list(data).map(one => record(one).address)).toEqual([OWN]);
    expect((await shop.get(`${LINKS}/${text(link.id)}`)).body).toMatchObject({ recipient_address: OWN });
  });

  test('a default recipient of the organization that is not on the list is refused, too', async ({
    locked,
  }) => {
    const { shop, thief } = await locked(FOREIGN);

    expect(errorOf(await thief.post(LINKS, { name: 'B', amount: '5' }))).toBe(LOCKED);
    await shop.post(PATH, { chain_id: TEST_CHAIN, address: FOREIGN });
    expect((await thief.post(LINKS, { name: 'B', amount: '5' })).status).toBe(201);
  });

  test('the same address on another chain is another recipient', async ({ locked }) => {
    const { shop } = await locked();
    const live = await shop.withKey({ mode: 'live' });
    const thief = await shop.withKey({ mode: 'live', permission: 'write' });
    const onLiveChain = { ...terms(OWN), chain_id: LIVE_CHAIN };
    await live.patch(ORGANIZATION, { recipients_locked: true });

    expect(errorOf(await thief.post(SESSIONS, onLiveChain))).toBe(LOCKED);
    await live.post(PATH, { chain_id: LIVE_CHAIN, address: OWN });
    expect((await thief.post(SESSIONS, onLiveChain)).status).toBe(201);
  });

  test('each mode is locked for itself', async ({ locked }) => {
    const { shop } = await locked();
    const live = await shop.withKey({ mode: 'live' });

    expect((await live.get(ORGANIZATION)).body).toMatchObject({ recipients_locked: false });
  });

  test('an address is the same in any letter case', async ({ locked }) => {
    const { thief } = await locked();
    const [own, foreign] = [OWN, FOREIGN].map(one => `0x${one.slice(2).toUpperCase()}`);

    expect((await thief.post(SESSIONS, terms(`${own}`))).status).toBe(201);
    expect(errorOf(await thief.post(SESSIONS, terms(`${foreign}`)))).toBe(LOCKED);
  });

  test('a stolen write key cannot extend the list or unlock it', async ({ locked }) => {
    const { thief } = await locked();

    const answers = [
      await thief.post(PATH, { chain_id: TEST_CHAIN, address: FOREIGN }),
      await thief.patch(ORGANIZATION, { recipients_locked: false }),
    ];

    expect(answers.map(errorOf)).toEqual(['403 insufficient_permissions', '403 insufficient_permissions']);
  });

  test('listed recipients work as before, and an admin key extends the list', async ({ api, locked }) => {
    const { shop, link, thief } = await locked();
    const { short_code } = link;

    await shop.post(PATH, { chain_id: TEST_CHAIN, address: FOREIGN });

    expect((await thief.post(SESSIONS, terms(FOREIGN))).status).toBe(201);
    expect((await thief.post(SESSIONS, { payment_link_id: link.id })).status).toBe(201);
    expect((await api.payer.post(`/api/v1/pay/links/${text(short_code)}/sessions`, {})).status).toBe(201);
  });

  test('a link whose recipient was removed from the list opens no checkout', async ({ api, locked }) => {
    const { shop, link, thief } = await locked();
    const path = `${LINKS}/${text(link.id)}`;
    await shop.patch(path, { is_active: false });
    const [recipient] = list(record((await shop.get(PATH)).body).data).map(record);
    await shop.delete(`${PATH}/${text(recipient?.id)}`);
    await thief.patch(path, { is_active: true });

    const answers = [
      await thief.post(SESSIONS, { payment_link_id: link.id }),
      await api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {}),
    ];

    expect(answers.map(errorOf)).toEqual(['400 invalid_status_transition', '400 invalid_status_transition']);
  });

  test('after unlocking, a link can name a new recipient again', async ({ locked }) => {
    const { shop, thief } = await locked();

    await shop.patch(ORGANIZATION, { recipients_locked: false });

    expect((await thief.post(LINKS, { name: 'B', ...terms(FOREIGN) })).status).toBe(201);
  });
});
