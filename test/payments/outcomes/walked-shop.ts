import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { unitsText } from '#pages/browser/amounts.ts';
import { demoSignIn } from '../../lab/dashboard-session.ts';
import { text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { leapingClock } from '../../support/brisk-clock.ts';
import { complaintsOf, makeBrisk } from '../../support/browser.ts';
import { type InjectedWallet, injectWallet } from '../../support/injected-wallet.ts';
import { test as checkout, status } from '../checkout/paid-page.ts';

/** Accounts of the chain by who holds them. */
export const HOLDERS = { first: 1, second: 2, exchange: 3, merchant: 4 } as const;
type Holder = keyof typeof HOLDERS;

export const PRICE = 5_000_000n;
export const usds = (amount: bigint) => unitsText(amount, { symbol: 'USDS', decimals: 6 });

/** A checkout at the page of its payer, who has a browser and a wallet of their own. */
export interface Payer {
  readonly page: Page;
  readonly wallet: InjectedWallet;
  readonly id: string;
  /** Exact amount of a transfer from elsewhere. */
  readonly due: bigint;
  /** Waits until the page says these lines about the payment and no others, and asks for a payment or not. */
  reads(lines: readonly string[], isAsked: boolean): Promise<void>;
  /** Names the transaction in the form "I have paid", and waits for the answer. */
  report(hash: string, answer: string): Promise<void>;
  /** Comes back to the page of an ended checkout until it shows a state. */
  comeBackTo(state: string): Promise<void>;
  /** Those of the given hashes and addresses that were on the page or in an answer to it. */
  learnt(secrets: readonly string[]): Promise<readonly string[]>;
}

/** The dashboard, signed in. */
export interface MerchantDesk {
  readonly page: Page;
  /** Opens a checkout; expects its badge, the sentence about it, and the buttons of decisions. */
  reads(id: string, expected: { badge: string; notice?: string; buttons: readonly string[] }): Promise<void>;
  /** Opens the row of an unmatched transfer. */
  unmatched(amount: bigint): Promise<ReturnType<Page['getByRole']>>;
  /** Confirms a dialog. */
  confirm(label: string): Promise<void>;
}

/** A link with a recipient of its own. */
interface Offering {
  readonly shortCode: string;
  readonly recipient: string;
}

export const test = checkout
  .extend('clock', { scope: 'worker' }, () => leapingClock())
  /** Adds a link. No transfer to its recipient could belong to a checkout of another walk. */
  .extend('offering', ({ createLink }) => async (terms: object = {}): Promise<Offering> => {
    const recipient = `0x${randomBytes(20).toString('hex')}`;
    const offer = { name: 'The last notebook', amount: `${PRICE}`, recipient_address: recipient, ...terms };
    return { recipient, ...(await createLink(offer)) };
  })
  /** Opens a window with cookies and storage of its own. */
  .extend('window', ({ browser, service }, { onCleanup }) => {
    const opened: BrowserContext[] = [];
    onCleanup(async () => {
      for (const context of opened) await context.close();
    });
    return async (): Promise<Page> => {
      const context = await browser.newContext({ baseURL: service.url });
      opened.push(context);
      return context.newPage();
    };
  })
  /** Opens a new checkout of a link in a browser of its own. */
  .extend(
    'payer',
    ({ window, chain, post }) =>
      async ({ shortCode }: Offering, holder: Holder): Promise<Payer> => {
        const page = await window();
        await makeBrisk(page);
        const { rpcUrl, chainId } = chain;
        const address = text(chain.accounts[HOLDERS[holder]]);
        const wallet = await injectWallet(page, { rpcUrl, chainId, address, name: 'Wallet' });
        const { body } = await post(`/pay/links/${shortCode}/sessions`, {});
        const checkout = { id: text(body.id), due: BigInt(text(body.amount_due)) };
        return { wallet, ...checkout, ...(await watchedPage(page, `/pay/s/${checkout.id}`)) };
      },
  )
  .extend('desk', async ({ window, chain, service }): Promise<MerchantDesk> => {
    const page = await window();
    const { rpcUrl, chainId, accounts } = chain;
    await injectWallet(page, { rpcUrl, chainId, address: text(accounts[HOLDERS.merchant]), name: 'Wallet' });
    await page.request.post('/dashboard/session', { data: { token: await demoSignIn(service) } });
    return deskAt(page);
  })
  /** Sends a transfer without a page and confirms it; returns its hash. */
  .extend('sent', ({ chain }) => async (from: Holder, { recipient }: Offering, amount: bigint) => {
    const hash = await chain.pay({ from: HOLDERS[from], to: recipient, amount });
    await chain.mine(2);
    return hash;
  });

/** Opens a page and collects what it learns. */
async function watchedPage(page: Page, url: string): Promise<Omit<Payer, 'wallet' | 'id' | 'due'>> {
  const answers: Promise<string>[] = [];
  page.on('response', answer => {
    if (/\/pay\//.test(answer.url())) answers.push(answer.text().catch(() => ''));
  });
  const complaints = complaintsOf(page);
  await page.goto(url);
  return {
    page,
    async reads(lines, isAsked) {
      const expected = { lines, isAsked };
      const shown = () => page.evaluate(SHOWN);
      expect(await until(shown, now => isDeepStrictEqual(now, expected))).toEqual(expected);
      expect(complaints).toEqual([]);
    },
    async report(hash, answer) {
      const form = page.locator('details').filter({ has: page.getByText('I have paid') });
      await form.locator('summary').click();
      await form.getByLabel('Hash of the transaction').fill(hash);
      await form.getByRole('button', { name: 'Look for it' }).click();
      await form.getByText(answer).waitFor();
    },
    async comeBackTo(state) {
      const again = async () => {
        await page.reload();
        return status(page, state).count();
      };
      expect(await until(again, count => count === 1)).toBe(1);
    },
    async learnt(secrets) {
      const all = [await page.content(), ...(await Promise.all(answers))].join('\n').toLowerCase();
      return secrets.filter(one => all.includes(one.toLowerCase()));
    },
  };
}

/** Lines of the page about the payment, and true when it shows where to pay. Runs in the browser. */
const SHOWN = `(() => {
  const said = ['#status', 'section[aria-labelledby=candidates-title]'].flatMap(part =>
    [...document.querySelectorAll(part)].flatMap(one => one.innerText.split(/\\n+/)));
  return { lines: said.filter(line => line.trim() !== ''), isAsked: document.querySelector('.qr, #pay') !== null };
})()`;

function deskAt(page: Page): MerchantDesk {
  return {
    page,
    async reads(id, { badge, notice, buttons }) {
      await page.goto(`/dashboard/payments/${id}`);
      await page.getByRole('heading', { level: 1, name: badge }).waitFor();
      await page.getByText('The checkout was created.').waitFor();
      const expected = { notices: notice === undefined ? [] : [notice], buttons: [...buttons].sort() };
      const shown = async () => {
        const names = await page.locator('main :is(button, a.button):not(dialog *)').allInnerTexts();
        return {
          notices: await page.locator('main .notice').allInnerTexts(),
          buttons: names.filter(name => DECISIONS.includes(name)).sort(),
        };
      };
      expect(await until(shown, now => isDeepStrictEqual(now, expected))).toEqual(expected);
    },
    async unmatched(amount) {
      await page.goto('/dashboard/unmatched?status=open');
      return page.getByRole('row').filter({ hasText: usds(amount) });
    },
    async confirm(label) {
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: label }).click();
      await dialog.waitFor({ state: 'hidden' });
    },
  };
}

/** Buttons by which the merchant decides about money. */
const DECISIONS = ['Accept', 'Move', 'Refund', 'Expire'];
