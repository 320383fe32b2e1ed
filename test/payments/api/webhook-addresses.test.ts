import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutgoingOptions } from '#payments/outgoing.ts';
import { sqliteDatabase, type TestDatabase } from '../../support/databases.ts';
import { errorOf, type Merchant, type PaymentsApi, startPaymentsApi } from '../../support/payments-api.ts';
import { dataOf, WEBHOOKS } from '../../support/webhooks-api.ts';

const GUARDED = { concurrencyPerEndpoint: 5, allowedNetworks: [], allowHttp: false };
const databases: TestDatabase[] = [];
const services: PaymentsApi[] = [];
afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  for (const database of databases) await database.remove();
});

/** A merchant of a service with the given allowances of the operator. */
async function shopUnder(webhooks: Partial<OutgoingOptions['webhooks']>): Promise<Merchant> {
  const database = await sqliteDatabase('payments');
  databases.push(database);
  const api = await startPaymentsApi(database.options, { webhooks: { ...GUARDED, ...webhooks } });
  services.push(api);
  return api.merchant();
}

describe('the address of a webhook, when the operator allows nothing more,', () => {
  let shop: Merchant;
  beforeAll(async () => {
    shop = await shopUnder({});
  });
  const create = (url: string) => shop.post(WEBHOOKS, { url, events: ['*'] });

  test.each([
    'https://books.example/hooks',
    'https://books.example:8443/hooks?shop=1#top',
    'https://BOOKS.example./',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/ü',
  ])('may be %s and is answered as given', async url => {
    const answer = await create(url);

    expect([answer.status, dataOf(answer).url]).toEqual([201, url]);
  });

  test.each([
    'http://books.example/hooks',
    'ftp://books.example/',
    'https://.',
    'https://./',
    'https://books..example/',
    'https://.books.example/',
    'https://books.example../',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(126)}example/`,
    'https://books.example:0/',
    'https://user@books.example/',
    'https://user:word@books.example/',
    'https://:word@books.example/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://168.63.129.16/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://shop.localhost/',
    'https://intranet/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://nas.home.arpa/',
    'https://256.256.256.256/',
    'https://books.example:99999/',
    'https://',
  ])('may not be %s', async url => {
    expect(errorOf(await create(url))).toBe('400 invalid_field_value url');
  });
});

describe('the address of a webhook, when the operator', () => {
  test('allows http, may use http on a public host only', async () => {
    const shop = await shopUnder({ allowHttp: true });
    const create = (url: string) => shop.post(WEBHOOKS, { url, events: ['*'] });

    expect((await create('http://books.example/')).status).toBe(201);
    expect(errorOf(await create('http://127.0.0.1/'))).toBe('400 invalid_field_value url');
    expect(errorOf(await create('http://localhost/'))).toBe('400 invalid_field_value url');
  });

  test('allows a network, may be an address or a name in it, by https only', async () => {
    const shop = await shopUnder({ allowedNetworks: ['10.0.0.0/8'] });
    const create = (url: string) => shop.post(WEBHOOKS, { url, events: ['*'] });

    expect((await create('https://10.1.2.3/')).status).toBe(201);
    expect((await create('https://shop/')).status).toBe(201);
    for (const url of ['https://127.0.0.1/', 'https://192.168.0.1/', 'http://10.1.2.3/']) {
      expect(errorOf(await create(url))).toBe('400 invalid_field_value url');
    }
  });
});
