import { expect } from 'vitest';
import { type ShownServices, startShownServices } from '#scripts/examples/shown-services.ts';
import { CHAIN_ID, servedTestChain } from '../indexer/support.ts';
import { servedChain, startTestDataService } from '../lab/data-service.ts';
import { list, record, text } from '../lab/json.ts';
import { test as withBrowser } from '../support/browser.ts';
import { faultsOf } from '../support/page-faults.ts';
import { type HostileChain, MARKUP, PROGRAM, startHostileChain } from './hostile-chain.ts';

/** A name of the maximal length: markup and one word. */
const NAME = PROGRAM.padEnd(100, 'W');
const LONG = PROGRAM.padEnd(500, 'W');
/** Expected error statuses on pages whose NFT has no picture. */
const PICTURELESS = [404];

const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('hostile', { scope: 'file' }, async ({}, { onCleanup }): Promise<HostileChain> => {
    const hostile = await startHostileChain();
    onCleanup(() => hostile.chain.stop());
    return hostile;
  })
  .extend('explorer', { scope: 'file' }, async ({ hostile }, { onCleanup }): Promise<string> => {
    const chain = servedChain(servedTestChain(hostile.chain.rpcUrl), hostile.chain.folder);
    const service = await startTestDataService([], {
      chains: [{ ...chain, abis: [...hostile.abis] }],
      rateLimitPerMinute: 1e9,
    });
    onCleanup(service.close);
    return service.url;
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('services', { scope: 'file' }, async ({}, { onCleanup }): Promise<ShownServices> => {
    const services = await startShownServices();
    onCleanup(() => services[Symbol.asyncDispose]());
    return services;
  })
  /** Calls the payments API as the merchant. Returns the record. */
  .extend('asMerchant', ({ services: { shop } }) => async (method: string, path: string, body: object) => {
    const response = await fetch(`${shop.url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${shop.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = record(await response.json());
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.success === true ? record(answer.data) : answer;
  });

test('texts of a chain run no script and break no page', async ({ hostile, explorer, browser }) => {
  const context = await browser.newContext();
  const search = `?${new URLSearchParams({ q: NAME })}`;
  const found: Record<string, string[]> = {};

  for (const { path, shows } of hostile.pages) {
    const faults = await faultsOf(context, `${explorer}/chain/${CHAIN_ID}${path}`, {
      statuses: PICTURELESS,
      text: shows,
      isAudited: false,
    });
    if (faults.length > 0) found[path] = faults;
  }
  found.search = await faultsOf(context, `${explorer}/search${search}`, {
    text: MARKUP,
    isAudited: false,
  });

  expect(found).toEqual({ search: [] });
  await context.close();
}, 300_000);

test('texts of merchants and payers run no script and break no page', async ({
  services,
  asMerchant,
  browser,
}) => {
  await asMerchant('PATCH', '/organization', { name: NAME });
  const [known] = list((await ask(services, '/payment-links?limit=1')).data).map(record);
  const field = { id: 'note', type: 'text', label: NAME, required: false, placeholder: NAME };
  const link = await asMerchant('POST', '/payment-links', {
    name: NAME,
    description: LONG,
    amount: '12500000',
    token_address: known?.token_address,
    chain_id: known?.chain_id,
    recipient_address: known?.recipient_address,
    items: [{ name: NAME, description: LONG, amount: '12500000', quantity: 1 }],
    form_schema: { fields: [field] },
    branding: { business_name: NAME },
    metadata: { note: LONG },
  });
  const session = await asMerchant('POST', '/checkout-sessions', {
    payment_link_id: link.id,
    customer_name: NAME,
    form_data: { note: LONG },
    metadata: { note: LONG },
  });
  const webhook = await asMerchant('POST', '/webhooks', {
    url: `https://hooks.example/${'w'.repeat(500)}?q=%3Cscript%3E`,
    events: ['*'],
    description: LONG,
  });
  await asMerchant('POST', '/api-keys', { name: NAME, permission: 'read' });
  const events = list((await ask(services, '/events')).data).map(record);

  const context = await services.signedIn(browser);
  const found: Record<string, string[]> = {};
  const check = async (path: string, shows = MARKUP) => {
    // The merchant's picture, on pages for payers.
    const hosts = path.startsWith('/pay/') ? ['books.example'] : [];
    const faults = await faultsOf(context, services.shop.url + path, {
      text: shows,
      hosts,
      isAudited: false,
    });
    if (faults.length > 0) found[path] = faults;
  };
  await check('/dashboard', '');
  await check('/dashboard/links');
  await check(`/dashboard/links/${text(link.id)}`);
  await check('/dashboard/payments', '');
  await check(`/dashboard/payments/${text(session.id)}`);
  await check('/dashboard/webhooks', '');
  await check(`/dashboard/webhooks/${text(webhook.id)}`, '%3Cscript%3E');
  await check('/dashboard/keys');
  await check('/dashboard/organization', '');
  await check(`/dashboard/events?event=${text(events[0]?.id)}`, '');
  await check(`/pay/${text(link.short_code)}`);
  await check(`/pay/s/${text(session.id)}`);

  expect(found).toEqual({});
  await context.close();
}, 300_000);

async function ask({ shop }: ShownServices, path: string): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${shop.key}` };
  return record(await (await fetch(`${shop.url}/api/v1${path}`, { headers })).json());
}
