import { expect } from 'vitest';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { record, text } from '../../lab/json.ts';
import { auditOf } from '../../support/page-faults.ts';
import { REJECTED, status } from '../checkout/paid-page.ts';
import { HOLDERS, PRICE, test, usds } from './walked-shop.ts';

const MERCHANT = 'Demo shop';
const WAITING = ['Waiting for your payment'];
const PAID = ['Paid. Thank you!', `${MERCHANT} has received your payment.`];
const WHOLE_PRICE = usds(PRICE);
const EXPIRED = [
  'This checkout has expired',
  `No payment was matched to it in time. Please do not send anything now. If you have paid, do not pay again: ask ${MERCHANT}, and name the transaction.`,
];
const SIGN = 'It was mine: sign with Wallet';

/** A transfer that could be of several payers, or only of one. */
const CANDIDATE = [
  'A payment arrived that could be yours',
  `A payment of ${WHOLE_PRICE} arrived. If it was yours, do not pay again: prove it by signing with the wallet that sent it, or ask ${MERCHANT}. Others can pay as before.`,
  SIGN,
];
/** The same on the page of an ended checkout. */
const ENDED_CANDIDATE = CANDIDATE.map(line => line.replace(' Others can pay as before.', ''));
const ONLY_CANDIDATE = [
  'A payment arrived that could be yours',
  `A payment of ${WHOLE_PRICE} arrived that could be yours. If it is, do not pay again: prove it by signing with the wallet that sent it, or ask ${MERCHANT} to assign it.`,
  SIGN,
];

test('a payer who rounds the amount reports it and signs, and a stranger who does the same gets nothing', async ({
  chain,
  offering,
  payer,
  desk,
  sent,
}) => {
  const link = await offering();
  const [rounding, stranger] = [await payer(link, 'first'), await payer(link, 'second')];
  await rounding.reads(WAITING, true);
  await stranger.reads(WAITING, true);

  const hash = await sent('first', link, PRICE);
  await rounding.reads([...WAITING, ...CANDIDATE], true);
  await stranger.reads([...WAITING, ...CANDIDATE], true);
  await rounding.report(hash, 'It arrived.');
  expect(await auditOf(rounding.page)).toEqual([]);
  await stranger.page.getByRole('button', { name: SIGN }).click();
  await stranger.page.getByText('has sent none of these payments. Use the wallet that did.').waitFor();
  await desk.reads(rounding.id, { badge: 'Open', buttons: ['Expire'] });
  await rounding.page.getByRole('button', { name: SIGN }).click();
  await rounding.reads(PAID, false);
  await stranger.reads(WAITING, true);

  await desk.reads(rounding.id, { badge: 'Completed', buttons: ['Refund'] });
  await desk.page.getByText('matched by the wallet that signed for this checkout').waitFor();
  await desk.reads(stranger.id, { badge: 'Open', buttons: ['Expire'] });
  const sender = `${chain.accounts[HOLDERS.first]}`;
  expect(await stranger.learnt([hash, sender])).toEqual([]);
});

test('a payer who is late reads so and is accepted', async ({
  clock,
  chain,
  offering,
  payer,
  desk,
  sent,
}) => {
  const link = await offering();
  const late = await payer(link, 'first');
  await late.reads(WAITING, true);

  clock.advance(31 * 60_000);
  await chain.mine();
  await late.reads(EXPIRED, false);
  await desk.reads(late.id, { badge: 'Expired', buttons: [] });
  await sent('first', link, late.due);
  await late.comeBackTo('paid_late');
  await late.reads(
    [
      'Your payment arrived late',
      `${usds(late.due)} arrived after this checkout had ended. ${MERCHANT} can see it, and can let it count or send it back. Please do not pay again.`,
    ],
    false,
  );
  await late.page.getByText('Where should a refund go?').click();
  expect(await auditOf(late.page)).toEqual([]);
  await desk.reads(late.id, {
    badge: 'Paid late',
    notice: 'The payment arrived after the checkout had ended, so it did not complete it.',
    buttons: ['Accept', 'Move', 'Refund'],
  });
  await desk.page.getByRole('button', { name: 'Accept' }).click();
  await desk.confirm('Accept');

  await desk.reads(late.id, { badge: 'Completed', buttons: ['Refund'] });
  await late.comeBackTo('paid');
  await late.reads(PAID, false);
});

test('the page of the second buyer of the last item turns to sold out, and a payment all the same is accepted', async ({
  chain,
  offering,
  payer,
  desk,
  sent,
}) => {
  const link = await offering({ max_uses: 1 });
  const [buyer, second] = [await payer(link, 'first'), await payer(link, 'second')];
  await second.reads(WAITING, true);

  await buyer.page.locator('#pay').click();
  await buyer.reads(
    [
      'Your payment is on its way',
      'It has been sent and has not appeared on the network yet. You may close this page.',
    ],
    true,
  );
  await chain.mine();
  await buyer.reads(
    [
      'Payment detected, confirming',
      'It has 0 of 1 confirmation. You may close this page: the payment counts without it.',
    ],
    false,
  );
  await chain.mine();
  await buyer.reads(PAID, false);
  await second.reads(
    [
      'Sold out',
      `The last one was bought while this checkout was open. Please do not send anything. If you have paid, do not pay again: ${MERCHANT} sees what arrives.`,
    ],
    false,
  );
  await desk.reads(second.id, { badge: 'Sold out', buttons: [] });
  const hash = await sent('second', link, second.due);
  await second.comeBackTo('paid_sold_out');
  await second.reads(
    [
      'Sold out before your payment arrived',
      `${usds(second.due)} arrived after the last one had been bought. ${MERCHANT} can see it, and can accept it or send it back. Please do not pay again.`,
    ],
    false,
  );
  await desk.reads(second.id, {
    badge: 'Paid, sold out',
    notice:
      'The payment arrived after the last use of the link was taken, so it did not complete the checkout.',
    buttons: ['Accept', 'Move', 'Refund'],
  });
  await desk.page.getByRole('button', { name: 'Accept' }).click();
  await desk.page.getByText('which is more than the link allows').waitFor();
  await desk.confirm('Accept');

  await desk.reads(second.id, { badge: 'Completed', buttons: ['Refund'] });
  await second.comeBackTo('paid');
  await second.reads(PAID, false);
  expect(await buyer.learnt([hash, `${chain.accounts[HOLDERS.second]}`])).toEqual([]);
  expect(await second.learnt([`${chain.accounts[HOLDERS.first]}`])).toEqual([]);
});

test('the page of the second buyer waits while a wallet has the last item reserved, and asks again after it', async ({
  clock,
  offering,
  payer,
  post,
}) => {
  const link = await offering({ max_uses: 1, reserve_uses: true });
  const [buyer, second] = [await payer(link, 'first'), await payer(link, 'second')];
  await second.reads(WAITING, true);
  const { address, signMessage } = deriveAccounts().signer(HOLDERS.first);
  const opened = await buyer.page.request.get(`/api/v1/pay/sessions/${buyer.id}`);
  const message = text(record(await opened.json()).wallet_message).replace('{address}', address);

  await post(`/pay/sessions/${buyer.id}/wallet`, { address, signature: await signMessage({ message }) });

  await buyer.page.getByText('Reserved for you until').waitFor();
  await status(second.page, 'reserved').waitFor();
  await second.page.getByText('The next reservation ends at').waitFor();
  expect(await second.page.locator('#pay, .qr').count()).toBe(0);
  clock.advance(615_000);
  await second.reads(WAITING, true);
});

test('two customers of one exchange each pay their own checkout, although the same address sends both', async ({
  offering,
  payer,
  desk,
  sent,
}) => {
  const first = await offering();
  const { recipient } = first;
  const second = await offering({ amount: '9000000', recipient_address: recipient });
  const [one, other] = [await payer(first, 'first'), await payer(second, 'second')];

  const exact = await sent('exchange', first, one.due);
  await one.reads(PAID, false);
  await other.reads(WAITING, true);
  const rounded = await sent('exchange', first, 9_000_000n);
  await other.reads([...WAITING, ...ONLY_CANDIDATE.map(line => line.replace(WHOLE_PRICE, '9 USDS'))], true);
  await other.report(rounded, 'It arrived.');
  const row = await desk.unmatched(9_000_000n);
  await row.getByRole('button', { name: 'Assign' }).click();
  await desk.page.getByRole('dialog').getByRole('radio').first().waitFor();
  await desk.confirm('Assign');

  await other.reads(PAID, false);
  await one.comeBackTo('paid');
  await one.reads(PAID, false);
  await desk.reads(one.id, { badge: 'Completed', buttons: ['Refund'] });
  await desk.page.getByText('matched by its exact amount').waitFor();
  await desk.reads(other.id, { badge: 'Completed', buttons: ['Refund'] });
  await desk.page.getByText('assigned by hand').waitFor();
  expect(await one.learnt([rounded])).toEqual([]);
  expect(await other.learnt([exact])).toEqual([]);
});

test('a wallet that returns with the price of a checkout for which it did not sign pays neither', async ({
  offering,
  payer,
  post,
  desk,
  sent,
}) => {
  const link = await offering();
  const ended = await payer(link, 'first');
  ended.wallet.refuse('eth_sendTransaction', REJECTED);
  await ended.page.locator('#pay').click();
  await ended.page.getByText('You declined in the wallet. Nothing was sent').waitFor();
  await post(`/checkout-sessions/${ended.id}/expire`, {});
  await ended.reads(EXPIRED, false);
  const open = await payer(link, 'first');
  await open.reads(WAITING, true);

  await sent('first', link, PRICE);
  await open.reads([...WAITING, ...CANDIDATE], true);
  await ended.comeBackTo('expired');
  await ended.reads([...EXPIRED, ...ENDED_CANDIDATE], false);
  await desk.reads(ended.id, { badge: 'Expired', buttons: [] });
  await desk.reads(open.id, { badge: 'Open', buttons: ['Expire'] });
  const row = await desk.unmatched(PRICE);
  await row.getByRole('button', { name: 'Assign' }).click();
  const best = desk.page.getByRole('dialog').getByRole('radio').first();
  await best.waitFor();
  expect(await best.inputValue()).toBe(open.id);
  await desk.confirm('Assign');

  await open.reads(PAID, false);
  await ended.comeBackTo('expired');
  await ended.reads(EXPIRED, false);
  await desk.reads(open.id, { badge: 'Completed', buttons: ['Refund'] });
});

test('a payer who pays twice reads what is too much, and the merchant sends it back', async ({
  chain,
  offering,
  payer,
  desk,
  sent,
}) => {
  const link = await offering();
  const twice = await payer(link, 'first');
  await twice.page.locator('#pay').click();
  await status(twice.page, 'sent').waitFor();
  await chain.mine(2);
  await twice.reads(PAID, false);

  await sent('first', link, PRICE);
  await twice.comeBackTo('overpaid');
  await twice.reads(
    [
      `Paid. ${WHOLE_PRICE} too much`,
      `${MERCHANT} has received your payment, and ${WHOLE_PRICE} more than was asked for. They can see that and can send it back.`,
    ],
    false,
  );
  await desk.reads(twice.id, {
    badge: 'Overpaid',
    notice:
      'The checkout is completed. More arrived than it asked for, or it was paid twice: the rest belongs to the payer.',
    buttons: ['Move', 'Refund'],
  });
  await desk.page.getByRole('link', { name: 'Refund', exact: true }).click();
  await desk.page.getByRole('button', { name: 'Create refund' }).click();
  await desk.page.getByRole('heading', { name: `${WHOLE_PRICE} To be sent` }).waitFor();
  expect(await auditOf(desk.page)).toEqual([]);
  await desk.page.getByRole('button', { name: 'Send with Wallet' }).click();
  await desk.page.getByRole('heading', { name: `${WHOLE_PRICE} Confirming` }).waitFor();
  await chain.mine(2);
  await desk.page.getByRole('heading', { name: `${WHOLE_PRICE} Completed` }).waitFor();

  await twice.comeBackTo('overpaid');
  await twice.reads(
    [
      'Paid. Thank you!',
      `${MERCHANT} has received your payment, and more than was asked for. ${WHOLE_PRICE} was sent back.`,
    ],
    false,
  );
  await desk.reads(twice.id, { badge: 'Overpaid, refunded', buttons: ['Move', 'Refund'] });
});
