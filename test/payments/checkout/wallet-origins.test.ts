import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { errorOf, PLACE, someHash, startPaymentsApi, TEST_CHAIN } from '../../support/payments-api.ts';

const SHOP = 'https://shop.example';
const DEVELOPMENT = 'http://localhost:5173';
const STRANGER = 'https://stranger.example';
const PAY_PAGE = 'pay.example.com';

const database = await sqliteDatabase('payments');
const api = await startPaymentsApi(database.options);
const merchant = await api.merchant();
beforeAll(() => merchant.patch('/api/v1/organization', { origins: [SHOP, DEVELOPMENT] }));
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database.remove();
});

const from = (origin: string | undefined) => (origin === undefined ? {} : { Origin: origin });

async function session(): Promise<string> {
  const recipient_address = `0x${someHash().slice(-40)}`;
  const terms = { ...PLACE, recipient_address, amount: '12500000' };
  return text(record((await merchant.post('/api/v1/checkout-sessions', terms)).body).id);
}

async function messageOf(id: string, { origin, address }: { origin?: string; address: string }) {
  const path = `/api/v1/pay/sessions/${id}?wallet_address=${address.toLowerCase()}`;
  const { body } = await api.payer.get(path, from(origin));
  return text(record(body).wallet_message);
}

async function bindFrom(origin: string | undefined, id: string, by: Signed) {
  const { address, signature } = by;
  const path = `/api/v1/pay/sessions/${id}/wallet`;
  return api.payer.post(path, { address, signature }, from(origin));
}

interface Signed {
  readonly address: string;
  readonly signature: string;
}

async function signed(id: string, origin?: string): Promise<Signed> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { address } = wallet;
  const message = await messageOf(id, { address, ...(origin !== undefined && { origin }) });
  return { address, signature: await wallet.signMessage({ message }) };
}

test('a browser wallet accepts the message, which names the page, the wallet, the chain and the session', async () => {
  const id = await session();
  const { address } = privateKeyToAccount(generatePrivateKey());

  const message = parseSiweMessage(await messageOf(id, { address }));

  expect(message).toMatchObject({
    domain: PAY_PAGE,
    address,
    chainId: TEST_CHAIN,
    version: '1',
    uri: `https://${PAY_PAGE}/pay/s/${id}`,
    issuedAt: new Date(api.clock.now()),
    statement: expect.stringContaining('12.5 USDC'),
  });
  const nonce = id.slice('cs_'.length);
  expect(validateSiweMessage({ message, address, domain: PAY_PAGE, nonce })).toBe(true);
});

test('the message names the calling page if its organization lists it, and the pay page otherwise', async () => {
  const id = await session();
  const { address } = privateKeyToAccount(generatePrivateKey());
  const domainFor = async (origin?: string) => {
    const { scheme, domain } = parseSiweMessage(
      await messageOf(id, { address, ...(origin !== undefined && { origin }) }),
    );
    return scheme === undefined ? domain : `${scheme}://${domain}`;
  };

  expect(await domainFor(SHOP)).toBe('shop.example');
  expect(await domainFor(DEVELOPMENT)).toBe(DEVELOPMENT);
  expect(await domainFor(STRANGER)).toBe(PAY_PAGE);
  expect(await domainFor('null')).toBe(PAY_PAGE);
  expect(await domainFor()).toBe(PAY_PAGE);
});

test('a checkout started from a listed page gets the message for that page', async () => {
  const recipient_address = `0x${someHash().slice(-40)}`;
  const terms = { ...PLACE, recipient_address, amount: '12500000' };
  const link = await merchant.post('/api/v1/payment-links', { name: 'Field notebooks', ...terms });
  const path = `/api/v1/pay/links/${text(record(link.body).short_code)}/sessions`;

  const { body } = await api.payer.post(path, {}, from(SHOP));

  expect(text(record(body).wallet_message)).toMatch(/^shop\.example wants you to sign in .*\n\{address\}\n/);
});

test.each([
  ['a listed page, called from that page', SHOP, SHOP],
  ['the pay page, called from a listed page', undefined, SHOP],
  ['the pay page, called from the pay page', undefined, `https://${PAY_PAGE}`],
  ['the pay page, called without an origin', undefined, undefined],
])('a wallet that signed for %s is bound', async (_, asked, bound) => {
  const id = await session();
  const wallet = await signed(id, asked);

  const answer = await bindFrom(bound, id, wallet);

  expect([answer.status, record(answer.body).payer_address]).toEqual([200, wallet.address.toLowerCase()]);
});

test('a signature for a listed page is refused from another page or for another session', async () => {
  const [id, other] = [await session(), await session()];
  const wallet = await signed(id, SHOP);

  const refusals = [
    await bindFrom(DEVELOPMENT, id, wallet),
    await bindFrom(STRANGER, id, wallet),
    await bindFrom(undefined, id, wallet),
    await bindFrom(SHOP, other, wallet),
  ];

  expect(refusals.map(errorOf)).toEqual(Array(4).fill('400 invalid_field_value signature'));
});

test('the list of the session’s mode applies', async () => {
  const id = await session();
  const { address } = privateKeyToAccount(generatePrivateKey());
  const live = await merchant.withKey({ mode: 'live' });
  await live.patch('/api/v1/organization', { origins: [STRANGER] });

  const { domain } = parseSiweMessage(await messageOf(id, { address, origin: STRANGER }));

  expect(domain).toBe(PAY_PAGE);
});

test('an invalid wallet address is refused', async () => {
  const id = await session();

  const answer = await api.payer.get(`/api/v1/pay/sessions/${id}?wallet_address=0x12`);

  expect(errorOf(answer)).toBe('400 invalid_field_value wallet_address');
});

test('a checkout cached for one page is not served to another', async () => {
  const id = await session();

  const { headers } = await api.payer.get(`/api/v1/pay/sessions/${id}`, from(SHOP));

  expect(headers.get('vary')?.split(', ')).toContain('Origin');
});
