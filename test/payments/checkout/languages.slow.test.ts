import { expect } from 'vitest';
import { text } from '../../lab/json.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { complaintsOf } from '../../support/browser.ts';
import { status, test } from './paid-page.ts';

const WIDTH = 390;

test.for([
  ['ar-EG', 'rtl', 'أرسل من أي مكان', 'تم الدفع. شكرًا لك!'],
  ['de-DE', 'ltr', 'Von beliebiger Stelle senden', 'Bezahlt. Vielen Dank!'],
] as const)(
  'a payer who reads %s pays on a page that is written %s, and loads the texts of one language',
  async ([locale, direction, way, thanks], { browser, createLink, post, service, chain }) => {
    const link = await createLink({ name: 'Field notebooks', amount: '6300000' });
    const started = await post(`/pay/links/${link.shortCode}/sessions`, {});
    const context = await browser.newContext({ locale, viewport: { width: WIDTH, height: 844 } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints = complaintsOf(page);
    const loaded: string[] = [];
    page.on('request', request => {
      if (request.url().includes('/languages/')) loaded.push(request.url());
    });

    await page.goto(`${service.url}/pay/s/${text(started.body.id)}`);
    await page.getByRole('heading', { name: way }).waitFor();
    const copy = await page.locator('.copy').first().textContent();
    const shape = await page.evaluate<unknown>(`({
      direction: getComputedStyle(document.body).direction,
      width: document.documentElement.scrollWidth,
      addresses: [...document.querySelectorAll('code')].map(one => getComputedStyle(one).direction),
    })`);
    await chain.pay({
      from: 1,
      to: text(started.body.recipient_address),
      amount: BigInt(text(started.body.amount_due)),
    });
    await chain.mine(2);
    await status(page, 'paid').waitFor();

    expect(shape).toMatchObject({ direction, width: WIDTH, addresses: expect.arrayContaining(['ltr']) });
    expect(copy).not.toContain('Copy');
    expect(await page.locator('h2').first().textContent()).toContain(thanks);
    expect(loaded).toHaveLength(1);
    expect(complaints).toEqual([]);
    await context.close();
  },
);
