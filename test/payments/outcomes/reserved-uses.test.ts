import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { record, text } from '../../lab/json.ts';
import { eachServedShop, type ServedShop } from './served-shop.ts';

const PRICE = 5_000_000n;
const [FIRST, SECOND] = [1, 5] as const;
const RESERVED_MS = 615_000;
const { signer } = deriveAccounts();

eachServedShop('two wallets before the last item', shopTest => {
  const test = shopTest.extend('buyers', ({ shop }) => async () => {
    const link = await linkOf(shop);
    return [await buyer(shop, link, FIRST), await buyer(shop, link, SECOND)] as const;
  });

  test('the one that signs first has it, and the other reads when to try again', async ({ shop, buyers }) => {
    const [first, second] = await buyers();

    await first.sign();
    const shown = [await first.page(), await second.page()];
    await first.send();
    await shop.settle();

    expect(shown).toEqual(['waiting, pay, reserved', 'reserved']);
    expect(await first.page()).toBe('paid');
    expect(await second.page()).toBe('sold_out');
  });

  test('pays although the other one paid sooner without a signature', async ({ shop, buyers }) => {
    const [first, second] = await buyers();

    await first.sign();
    await second.send();
    await shop.settle();
    await first.send();
    await shop.settle();

    expect(await first.page()).toBe('paid');
    expect(await second.page()).toBe('paid_sold_out');
  });

  test('the item goes to the other one after ten minutes, and a payment after that is late', async ({
    shop,
    buyers,
  }) => {
    const [first, second] = await buyers();
    await first.sign();

    shop.chain.clock.advance(RESERVED_MS);
    await shop.settle();
    const free = await second.page();
    await second.sign();
    const taken = await first.page();
    await first.send();
    await shop.settle();
    await second.send();
    await shop.settle();

    expect(free).toBe('waiting, pay');
    expect(taken).toBe('reserved');
    expect(await first.page()).toBe('paid_sold_out');
    expect(await second.page()).toBe('paid');
  });

  test('keeps it while a payment is confirmed, also when a reorganisation drops that and it returns', async ({
    shop,
    buyers,
  }) => {
    const [first, second] = await buyers();
    await first.sign();
    const before = await shop.chain.snapshot();
    const head = await shop.chain.head();
    await first.send();
    await shop.chain.mine(1);
    await shop.round();
    const seen = [await first.page(), await second.page()];

    await shop.chain.fork(before, (await shop.chain.head()) - head + 1);
    for (let count = 0; count < 2; count++) await shop.round();
    const dropped = [await first.page(), await second.page()];
    await first.sendAgain();
    await shop.settle();

    expect(seen).toEqual(['confirming', 'reserved']);
    expect(dropped).toEqual(['sent, pay', 'reserved']);
    expect(await first.page()).toBe('paid');
    expect(await second.page()).toBe('sold_out');
  });

  test('a use that a reorganisation gives back is reserved for the next wallet, until the payment returns', async ({
    shop,
    buyers,
  }) => {
    const [first, second] = await buyers();
    await first.sign();
    const before = await shop.chain.snapshot();
    const head = await shop.chain.head();
    await first.send();
    await shop.settle();

    await shop.chain.fork(before, (await shop.chain.head()) - head + 1);
    for (let count = 0; count < 2; count++) await shop.round();
    await second.sign();
    const reserved = await second.page();
    await first.sendAgain();
    await shop.settle();

    expect(reserved).toBe('waiting, pay, reserved');
    expect(await first.page()).toBe('paid');
    expect(await second.page()).toBe('sold_out');
  });
});

/** A payer with a wallet and a checkout of a link. */
async function buyer({ api, chain, page }: ServedShop, link: Record<string, unknown>, account: number) {
  const opened = record(
    (await api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {})).body,
  );
  const id = text(opened.id);
  let raw = '';
  return {
    async sign(): Promise<void> {
      const { address, signMessage } = signer(account);
      const message = text(opened.wallet_message).replace('{address}', address);
      const signature = await signMessage({ message });
      await api.payer.post(`/api/v1/pay/sessions/${id}/wallet`, { address, signature });
    },
    /** Sends the exact amount to the pool. */
    async send(): Promise<void> {
      const amount = BigInt(text(opened.amount_due));
      const hash = await chain.pay({ from: account, to: text(opened.recipient_address), amount });
      raw = chain.rawOf(hash);
    },
    sendAgain: () => chain.call('eth_sendRawTransaction', raw),
    /** State of the pay page, then `pay` while it asks for money and `reserved` while it says so. */
    async page(): Promise<string> {
      const html = await page(id);
      const [, state = ''] = /data-state-name="([a-z_]+)"/.exec(html) ?? [];
      const isReserved = html.includes('Reserved for you until');
      return [state, ...(html.includes('id="pay"') ? ['pay'] : []), ...(isReserved ? ['reserved'] : [])].join(
        ', ',
      );
    },
  };
}

async function linkOf({ api, chain }: ServedShop): Promise<Record<string, unknown>> {
  const merchant = await api.merchant();
  const { body } = await merchant.post('/api/v1/payment-links', {
    name: 'The last one',
    amount: `${PRICE}`,
    chain_id: chain.chainId,
    token_address: chain.token,
    recipient_address: `0x${randomBytes(20).toString('hex')}`,
    max_uses: 1,
    reserve_uses: true,
  });
  return record(body);
}
