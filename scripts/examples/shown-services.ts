import type { Browser, BrowserContext } from 'playwright-core';
import { type Clock, systemClock } from '#lib/clock.ts';
import { list, record, text } from '#test/lab/json.ts';
import { startTestDataService } from '../../test/lab/data-service.ts';
import { startTestDevnet, TEST_END_TIME } from '../../test/lab/devnet.ts';
import { type ExampleShop, openExampleShop } from './example-shop.ts';
import { trade } from './payments-examples.ts';

/** Page to open. */
export interface ShownPage {
  readonly name: string;
  readonly url: string;
}

/** Both services over embedded chains of seed 1, with data for every page. `await using` stops them. */
export interface ShownServices extends AsyncDisposable {
  /** Pages of the data service. */
  readonly explorer: readonly ShownPage[];
  /** Pages of the dashboard, for a signed-in browser. */
  readonly dashboard: readonly ShownPage[];
  /** Pages for payers, and the one at the root of the payments service. */
  readonly checkout: readonly ShownPage[];
  /** Payments service and a key of its shop. */
  readonly shop: Pick<ExampleShop, 'url' | 'key'>;
  /** Creates a browser context that is signed in to the dashboard. */
  signedIn(browser: Browser, options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>;
}

/** Fixed time just after the last block, in the services and in browsers. */
export const SHOWN_AT = TEST_END_TIME + 30_000;
const CLOCK: Clock = { ...systemClock, now: () => SHOWN_AT };

/** Starts the services and runs trade on the first chain. */
export async function startShownServices(): Promise<ShownServices> {
  await using opened = new AsyncDisposableStack();
  const devnet = opened.use(await startTestDevnet({ chains: 2 }));
  const [chain] = devnet.chains;
  if (chain === undefined) throw new Error('the devnet has no chain');
  const receiver = { status: 200 };
  const shop = opened.use(await openExampleShop(chain, () => receiver.status));
  await trade(shop, { chain, receiver });
  const data = opened.use(
    await startTestDataService(devnet.chains, { clock: CLOCK, rateLimitPerMinute: 1e9 }),
  );
  const services = {
    explorer: await explorerPages(data.url, chain.id),
    dashboard: dashboardPages(shop),
    checkout: await checkoutPages(shop),
    shop,
  };
  const closing = opened.move();
  return {
    ...services,
    async signedIn(browser, options) {
      const context = await browser.newContext(options);
      const answer = await context.request.post(`${shop.url}/dashboard/session`, {
        data: { token: await shop.signInToken() },
      });
      if (!answer.ok()) throw new Error(`the dashboard answered ${answer.status()} ${await answer.text()}`);
      return context;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

async function explorerPages(url: string, chainId: number): Promise<ShownPage[]> {
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(`${url}${path}${path.includes('?') ? '&' : '?'}chain_id=${chainId}`)).json();
  const items = async (path: string) => list(record(await ask(path)).items).map(record);
  const transactions = await items('/explorer/transactions');
  const typed = (type: string) =>
    text((transactions.find(one => list(one.transaction_types).includes(type)) ?? transactions[0])?.hash);
  const ofKind = async (kind: string) => {
    const [token] = await items(`/explorer/tokens?type=${kind}`);
    return text(token?.address ?? token?.address_hash);
  };
  const [erc20, erc721, erc1155] = await Promise.all(['ERC-20', 'ERC-721', 'ERC-1155'].map(ofKind));
  const [instance] = await items(`/explorer/tokens/${erc721}/instances`);
  const sender = text(record(transactions[0]?.from).hash);
  const chain = `${url}/chain/${chainId}`;
  return [
    { name: 'home', url: `${url}/` },
    { name: 'chain', url: chain },
    ...['blocks', 'txs', 'pending', 'tokens', 'contracts'].map(path => ({
      name: `list of ${path}`,
      url: `${chain}/${path}`,
    })),
    { name: 'search', url: `${url}/search?q=USD` },
    { name: 'playground', url: `${url}/playground` },
    { name: 'block', url: `${chain}/block/${transactions[0]?.block_number}` },
    { name: 'transaction', url: `${chain}/tx/${typed('token_transfer')}` },
    { name: 'contract creation', url: `${chain}/tx/${typed('contract_creation')}` },
    ...['logs', 'internal', 'state', 'trace'].map(tab => ({
      name: `transaction, ${tab}`,
      url: `${chain}/tx/${typed('token_transfer')}?tab=${tab}`,
    })),
    { name: 'account', url: `${chain}/address/${sender}` },
    { name: 'contract', url: `${chain}/address/${erc20}?tab=contract` },
    { name: 'token', url: `${chain}/token/${erc20}` },
    { name: 'NFT collection', url: `${chain}/token/${erc721}` },
    { name: 'collection of both', url: `${chain}/token/${erc1155}` },
    { name: 'NFT', url: `${chain}/token/${erc721}/instance/${text(instance?.id)}` },
    { name: 'transaction that is not there', url: `${chain}/tx/0x${'0'.repeat(64)}` },
  ];
}

function dashboardPages({ url, known }: ExampleShop): ShownPage[] {
  const at = (id: string) => known.get(id) ?? '';
  const paths = [
    '',
    '/sign-in',
    '/payments',
    `/payments/${at('checkout_session_id')}`,
    '/unmatched',
    '/totals?interval=day',
    '/refunds',
    `/refunds/new?session_id=${at('checkout_session_id')}`,
    `/refunds/${at('refund_id')}`,
    '/customers',
    `/customers/${at('customer_id')}`,
    '/links',
    '/links/new',
    `/links/${at('payment_link_id')}`,
    '/webhooks',
    `/webhooks/${at('webhook_id')}`,
    '/keys',
    '/notifications',
    '/organization',
    '/events',
  ];
  return paths.map(path => ({
    name: `dashboard${path.replace(/_[0-9A-Za-z]{24}/, '')}`,
    url: `${url}/dashboard${path}`,
  }));
}

async function checkoutPages({ url, known, ask }: ExampleShop): Promise<ShownPage[]> {
  const open = await ask('createCheckoutSession', { isUnrecorded: true });
  return [
    { name: 'root', url: `${url}/` },
    { name: 'link', url: `${url}/pay/${known.get('short_code')}` },
    { name: 'checkout', url: `${url}/pay/s/${text(open.id)}` },
    { name: 'receipt', url: `${url}/pay/s/${known.get('checkout_session_id')}` },
  ];
}
