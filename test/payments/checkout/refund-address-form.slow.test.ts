import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { LOOPBACK_ONLY } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { parsedMail } from '../../support/smtp-receiver.ts';
import { status, test } from './paid-page.ts';

const ADDRESS = `0x${'d0'.repeat(20)}`;

test('the payer of a late payment signs for a refund address, which the merchant sees as proved', async ({
  page,
  chain,
  service,
  wallet,
  post,
  openCheckout,
  payFromElsewhere,
  complaints,
}) => {
  const id = await openCheckout(page, { amount: '4000000' });
  const asked = async (path: string) => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${text(service.demoKey)}` },
    });
    return record(await answer.json());
  };
  const { amount_due } = await asked(`/checkout-sessions/${id}`);
  await post(`/checkout-sessions/${id}/expire`, {});
  await payFromElsewhere(BigInt(text(amount_due)));
  await until(
    async () => {
      await chain.mine(1);
      return asked(`/checkout-sessions/${id}`);
    },
    ({ outcome }) => outcome === 'paid_late',
  );
  await page.reload();
  await page.locator('[data-state-name=paid_late]').waitFor();

  await page.getByText('Where should a refund go?').click();
  await page.getByLabel('Your address').fill(ADDRESS);
  await page.getByRole('button', { name: 'Sign with Sample Wallet' }).click();
  await page.getByText('Your address is stated.').waitFor();

  await page.getByText(`Stated: ${ADDRESS}, signed by your wallet`).waitFor();
  expect(wallet.asked).toContain('personal_sign');
  expect(await asked(`/refunds/options?session_id=${id}`)).toMatchObject({
    destinations: [{ address: ADDRESS, source: 'payer_signature', proved: true }, { source: 'sender' }],
  });
  expect(complaints).toEqual([]);
});

test('the payer of a late payment states a refund address through a mailed link, without a wallet', async ({
  page,
  service,
  post,
  payFromElsewhere,
}) => {
  const customerEmail = 'ada@example.com';
  const link = await post('/payment-links', { name: 'Field notebooks', amount: '4100000' });
  const { body } = await post('/checkout-sessions', { payment_link_id: link.body.id, customerEmail });
  const id = text(body.id);
  await post(`/checkout-sessions/${id}/expire`, {});
  await payFromElsewhere(BigInt(text(body.amount_due)));
  await page.goto(`${service.url}/pay/s/${id}`);
  await status(page, 'paid_late').waitFor();

  await page.getByText('Where should a refund go?').click();
  await page.getByRole('button', { name: 'Mail me a link' }).click();
  await page.getByText('If you left an e-mail address before paying').waitFor();
  const url = await until(
    async () => linkIn(id),
    link => link !== undefined,
  );
  await page.goto('about:blank');
  await page.goto(text(url));
  await page.getByLabel('Your address').fill(ADDRESS);
  await page.getByRole('button', { name: 'State by the link from your mail' }).click();

  await page.getByText(`Stated: ${ADDRESS}, stated by the link from your mail`).waitFor();
  expect(page.url()).toBe(`${service.url}/pay/s/${id}`);
  await page.getByRole('button', { name: 'Mail me a link' }).waitFor();
});

/** The link in a mail about a checkout; undefined before it was written. */
async function linkIn(id: string): Promise<string | undefined> {
  const folder = LOOPBACK_ONLY.mailFolder;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith('.eml')) continue;
    const mail = parsedMail(await readFile(join(folder, name), 'utf8'));
    const [link] = new RegExp(`http\\S+/pay/s/${id}#refund=\\w+`).exec(mail.parts['text/plain'] ?? '') ?? [];
    if (link !== undefined) return link;
  }
  return undefined;
}
