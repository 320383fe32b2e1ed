import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  type ApiClient,
  errorOf,
  LIVE_CHAIN,
  PLACE,
  RECIPIENT,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/organization';
const LINKS = '/api/v1/payment-links';
const LOGO = 'https://books.example/logo.png';
const DEFAULTS = {
  default_chain_id: TEST_CHAIN,
  default_token_address: TOKEN,
  default_recipient_address: RECIPIENT,
};
const NO_CONTACT = { contact_email: null, site_url: null, terms_url: null };
const NO_DEFAULTS = { default_chain_id: null, default_token_address: null, default_recipient_address: null };

/** Merchant of a session as shown to its payer. */
async function merchantOf(payer: ApiClient, session: unknown): Promise<unknown> {
  const { body } = await payer.get(`/api/v1/pay/sessions/${text(record(session).id)}`);
  return record(body).merchant;
}

eachPaymentsApi('name, logo and defaults of an organization', test => {
  test('are shown to payers of sessions opened after a change', async ({ api }) => {
    const shop = await api.merchant();
    const first = await shop.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });

    const changed = await shop.patch(PATH, { name: ' Corner Books ', logo_url: LOGO });
    const second = await shop.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1001' });
    const link = record((await shop.post(LINKS, { ...PLACE, name: 'Notebook', amount: '5' })).body);
    const third = await api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {});

    expect(changed.body).toMatchObject({ name: 'Corner Books', logo_url: LOGO });
    const shown = { name: 'Corner Books', logo_url: LOGO, ...NO_CONTACT };
    expect(await merchantOf(api.payer, first.body)).toEqual({
      name: shop.name,
      logo_url: null,
      ...NO_CONTACT,
    });
    expect(await merchantOf(api.payer, second.body)).toEqual(shown);
    expect(record(third.body).merchant).toEqual(shown);
  });

  test('are overridden by the branding of a link', async ({ api }) => {
    const shop = await api.merchant();
    await shop.patch(PATH, { name: 'Corner Books', logo_url: LOGO });
    const branding = { business_name: 'Corner Tea', logo_url: 'https://tea.example/leaf.svg' };
    const link = record((await shop.post(LINKS, { ...PLACE, name: 'Tea', amount: '5', branding })).body);

    const session = await shop.post('/api/v1/checkout-sessions', { payment_link_id: link.id });

    expect(await merchantOf(api.payer, session.body)).toEqual({
      name: 'Corner Tea',
      logo_url: 'https://tea.example/leaf.svg',
      ...NO_CONTACT,
    });
  });

  test('come with the current contact, also in a session that is older, and under the branding of a link', async ({
    api,
  }) => {
    const shop = await api.merchant();
    const branding = { business_name: 'Corner Tea' };
    const link = record((await shop.post(LINKS, { ...PLACE, name: 'Tea', amount: '5', branding })).body);
    const session = await shop.post('/api/v1/checkout-sessions', { payment_link_id: link.id });
    const contact = {
      contact_email: 'help@books.example',
      site_url: 'https://books.example',
      terms_url: 'https://books.example/terms',
    };

    const changed = await shop.patch(PATH, contact);

    expect(changed.body).toMatchObject(contact);
    expect(await merchantOf(api.payer, session.body)).toEqual({
      name: 'Corner Tea',
      logo_url: null,
      ...contact,
    });
    expect((await shop.patch(PATH, { contact_email: null })).body).toMatchObject({ contact_email: null });
  });

  test('return to the operator’s values when set to null', async ({ api }) => {
    const shop = await api.merchant('test', { chainId: TEST_CHAIN, tokenAddress: TOKEN });
    const recipient = `0x${'ab'.repeat(20)}`;
    const changed = await shop.patch(PATH, { name: 'Corner Books', default_recipient_address: recipient });

    const back = await shop.patch(PATH, { name: null, default_recipient_address: null });

    expect(changed.body).toMatchObject({ ...DEFAULTS, default_recipient_address: recipient });
    expect(back.body).toMatchObject({ ...DEFAULTS, name: shop.name, default_recipient_address: null });
    expect((await shop.get(PATH)).body).toEqual(back.body);
  });

  test('apply to links that name none', async ({ api }) => {
    const shop = await api.merchant();
    const terms = { name: 'Field notebooks', amount: '12500000' };
    expect(errorOf(await shop.post(LINKS, terms))).toBe('400 missing_required_field token_address');

    await shop.patch(PATH, DEFAULTS);

    expect((await shop.post(LINKS, terms)).body).toMatchObject(PLACE);
  });

  test('are separate for each mode', async ({ api }) => {
    const shop = await api.merchant('live');
    const tester = await shop.withKey({ mode: 'test' });

    await tester.patch(PATH, { name: 'Trial', logo_url: LOGO, ...DEFAULTS });

    expect((await shop.get(PATH)).body).toMatchObject({ name: shop.name, logo_url: null, ...NO_DEFAULTS });
    expect((await tester.get(PATH)).body).toMatchObject({ name: 'Trial', logo_url: LOGO, ...DEFAULTS });
    expect((await shop.patch(PATH, { default_chain_id: LIVE_CHAIN })).status).toBe(200);
  });

  test.for([
    [{ default_chain_id: LIVE_CHAIN }, 'invalid_field_value default_chain_id'],
    [{ default_chain_id: 424_242 }, 'invalid_field_value default_chain_id'],
    [{ default_token_address: RECIPIENT }, 'invalid_field_value default_token_address'],
    [{ default_token_address: 'USDC' }, 'invalid_address default_token_address'],
    [{ default_recipient_address: TOKEN }, 'invalid_field_value default_recipient_address'],
    [
      { default_token_address: null, default_recipient_address: TOKEN },
      'invalid_field_value default_recipient_address',
    ],
    [{ default_recipient_address: `0x${'0'.repeat(40)}` }, 'invalid_field_value default_recipient_address'],
    [{ default_recipient_address: `0x${'f'.repeat(39)}e` }, 'invalid_field_value default_recipient_address'],
    [{ name: '  ' }, 'invalid_field_value name'],
    [{ name: 'a\nb' }, 'invalid_field_value name'],
    [{ site_url: 'http://books.example' }, 'invalid_field_value site_url'],
    [{ contact_email: 'help' }, 'invalid_field_value contact_email'],
    [{ logo_url: 'http://books.example/logo.png' }, 'invalid_field_value logo_url'],
  ] as const)('are not changed by %j, which is refused as %s', async ([changes, error], { api }) => {
    const shop = await api.merchant();
    await shop.patch(PATH, DEFAULTS);
    const before = await shop.get(PATH);

    const answer = await shop.patch(PATH, { recipients_locked: true, ...changes });

    expect(errorOf(answer)).toBe(`400 ${error}`);
    expect((await shop.get(PATH)).body).toEqual(before.body);
  });

  test('are changed once by a repeated request with one key, which answers the same again', async ({
    api,
  }) => {
    const shop = await api.merchant();
    const headers = { 'Idempotency-Key': 'profile' };
    const first = await shop.patch(PATH, { name: 'Corner Books' }, headers);
    await shop.patch(PATH, { name: 'Corner Tea' });

    const again = await shop.patch(PATH, { name: 'Corner Books' }, headers);

    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(record((await shop.get(PATH)).body).name).toBe('Corner Tea');
  });
});
