import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { unitsText } from '#pages/browser/amounts.ts';
import { list, record, text } from '../../lab/json.ts';
import type { Merchant } from '../../support/payments-api.ts';
import { badgeOf, type ServedShop } from './served-shop.ts';

export const PRICE = 5_000_000n;
/**
 * Reason for which a transfer becomes a payment: its wallet signed, its amount is exact, or the merchant assigns it. By
 * `price` alone it becomes none.
 */
export type Way = 'wallet' | 'amount' | 'assignment' | 'price';

/** Accounts of the chain by who holds them. */
const HOLDERS = { signer: 1, refunder: 4, otherBuyer: 5, exchange: 6 } as const;
const DESTINATION = `0x${'d0'.repeat(20)}`;
const SESSIONS = '/api/v1/checkout-sessions';
const UNMATCHED = '/api/v1/unmatched-transfers';
const TOKEN = { symbol: 'USDS', decimals: 6 };
const { signer } = deriveAccounts();

export type Customer = Awaited<ReturnType<typeof customer>>;

/** A checkout of a link with one use, of a merchant of its own, and what payer and merchant do with it. */
export async function customer(shop: ServedShop, way: Way, tolerance: number | null = null) {
  const { api, chain } = shop;
  const merchant = await api.merchant();
  const recipient = `0x${randomBytes(20).toString('hex')}`;
  const link = await linkOf(merchant, { recipient, chain, tolerance });
  const open = async () => record((await merchant.post(SESSIONS, { payment_link_id: link })).body);
  const [opened, other] = [await open(), await open()];
  const [id, otherId] = [text(opened.id), text(other.id)];
  const due = BigInt(text(opened.amount_due));
  const [payer, path] = [`/api/v1/pay/sessions/${id}`, `${SESSIONS}/${id}`];
  const sent: Hex[] = [];
  let before = await chain.snapshot();
  let head = await chain.head();

  if (way === 'wallet') {
    const message = text(record((await api.payer.get(payer)).body).wallet_message);
    const { address, signMessage } = signer(HOLDERS.signer);
    const signature = await signMessage({ message: message.replace('{address}', address) });
    await api.payer.post(`${payer}/wallet`, { address, signature });
  }

  /** Remembers the chain before the transfers that a reorganisation drops. */
  async function remember(): Promise<void> {
    before = await chain.snapshot();
    head = await chain.head();
  }
  /** Sends a transfer to the pool. */
  async function send(from: number, to: string, amount: bigint): Promise<Hex> {
    const hash = await chain.pay({ from, to, amount });
    sent.push(chain.rawOf(hash));
    return hash;
  }
  const pool = (amount: bigint) =>
    send(way === 'wallet' ? HOLDERS.signer : HOLDERS.exchange, recipient, way === 'amount' ? due : amount);
  const payOther = () =>
    chain.pay({ from: HOLDERS.otherBuyer, to: recipient, amount: BigInt(text(other.amount_due)) });
  async function post(to: string, body: unknown): Promise<Record<string, unknown>> {
    // Events of one millisecond have no order.
    chain.clock.advance(1);
    const answer = await merchant.post(to, body);
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
    return record(answer.body);
  }
  /** Records of a list of the merchant, newest first. */
  const listed = async (from: string) => list(record((await merchant.get(from)).body).data).map(record);
  const newest = async (from: string) => text(record((await listed(from))[0]).id);
  const decide = async (decision: string, body: object = {}) =>
    post(`${UNMATCHED}/${await newest(`${UNMATCHED}?status=open`)}/${decision}`, body);
  const session = async () => record((await merchant.get(path)).body);
  const assign = () => decide('assign', { session_id: id });
  async function refund(amount: bigint, of: object): Promise<void> {
    const typed = { destination_address: DESTINATION, destination_confirmation: DESTINATION };
    const requested = await post('/api/v1/refunds', { ...of, amount: `${amount}`, ...typed });
    const tx_hash = await send(HOLDERS.refunder, DESTINATION, amount);
    await post(`/api/v1/refunds/${text(requested.id)}/complete`, { tx_hash });
    await shop.settle();
  }

  return {
    due,
    /** Amount of a payment that is neither less nor more. */
    price: way === 'amount' ? due : PRICE,
    wait: shop.settle,
    assign,
    accept: () => post(`${path}/accept`, { reason: 'A regular' }),
    dismiss: () => decide('dismiss', { reason: 'Not ours' }),
    refund: (amount: bigint) => refund(amount, { session_id: id }),
    refundUnmatched: async (amount: bigint) =>
      refund(amount, { unmatched_transfer_id: await newest(`${UNMATCHED}?status=open`) }),
    /** Moves the newest payment to another checkout. */
    move: async () =>
      post(`/api/v1/transactions/${await newest(`/api/v1/transactions?session_id=${id}`)}/move`, {
        session_id: otherId,
      }),
    /** Sends an amount and waits for its first block; by exact amount it is the one asked for. */
    async send(amount: bigint): Promise<void> {
      await pool(amount);
      await chain.mine(1);
      await shop.round();
    },
    /** Sends an amount and confirms it. The merchant assigns it if that is how it becomes a payment. */
    async pay(amount: bigint): Promise<void> {
      await pool(amount);
      await shop.settle();
      if (way === 'assignment') await assign();
    },
    /** Sends a transfer that reverts, and names it to the checkout. */
    async payInVain(): Promise<void> {
      const tx_hash = await send(HOLDERS.signer, recipient, 10n ** 18n);
      await api.payer.post(`${payer}/claims`, { tx_hash });
      await shop.round();
      await shop.settle();
    },
    /** Lets the time of the checkout pass. */
    async overtime(): Promise<void> {
      chain.clock.advance(Date.parse(text(opened.expires_at)) - chain.clock.now() + 60_000);
      await shop.settle();
      if (sent.length === 0) await remember();
    },
    /** Lets another buyer take the only use of the link. */
    async sellOut(): Promise<void> {
      await payOther();
      await shop.settle();
      await remember();
    },
    /** Sends an amount while the payment of another buyer, who takes the only use of the link, is confirmed. */
    async race(amount: bigint): Promise<void> {
      await payOther();
      await chain.mine(1);
      await remember();
      await pool(amount);
      await chain.mine(1);
      await shop.round();
      await shop.settle();
    },
    /** Drops all transfers of this customer by a longer chain without them. */
    async drop(): Promise<void> {
      await chain.fork(before, (await chain.head()) - head + 1);
      await remember();
      for (let count = 0; count < 2; count++) await shop.round();
      await chain.mine(1);
      await shop.round();
    },
    /** Has the dropped transfers mined in other blocks. */
    async bringBack(): Promise<void> {
      for (const raw of sent) await chain.call('eth_sendRawTransaction', raw);
      await shop.settle();
    },
    /**
     * Outcome by API, title of the page and badge of the dashboard, then `pay` while the page asks for money and the
     * states of transfers that are unmatched or dismissed, or the sum of refunds.
     */
    async shown(): Promise<string> {
      const shown = await session();
      const html = await shop.page(id);
      const [, title = ''] = /class="status-panel[\s\S]*?<h2>([^<]*)<\/h2>/.exec(html) ?? [];
      const units = (amount: bigint) => unitsText(amount, TOKEN);
      const refunded = BigInt(text(shown.amount_refunded));
      const unmatched = await listed(UNMATCHED);
      const states = unmatched.map(one => text(one.status)).filter(status => status !== 'assigned');
      return [
        `${text(shown.outcome)}: ${title.replaceAll(units(due), 'exact amount')}`,
        badgeOf(shown),
        ...(html.includes('id="pay"') ? ['pay'] : []),
        ...(refunded > 0n ? [`refunded ${refunded === due ? 'exact amount' : units(refunded)}`] : states),
      ].join(', ');
    },
    /** Facts of the receipt on the page, by name. */
    async receipt(): Promise<Record<string, string>> {
      const rows = (await shop.page(id)).matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)<\/dd>/g);
      return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]));
    },
    /** The newest payment. */
    payment: async () => (await listed(`/api/v1/transactions?session_id=${id}`))[0],
    /** Types of the merchant's events, oldest first, without those of the other checkout. */
    async events(): Promise<string[]> {
      const all = await listed('/api/v1/events?limit=100');
      return all
        .filter(one => !concerns(otherId, record(one.data)))
        .map(one => text(one.event))
        .toReversed();
    },
  };
}

function concerns(sessionId: string, data: Record<string, unknown>): boolean {
  return data.id === sessionId || data.session_id === sessionId;
}

async function linkOf(
  merchant: Merchant,
  {
    recipient,
    chain,
    tolerance,
  }: { recipient: string; chain: ServedShop['chain']; tolerance: number | null },
): Promise<string> {
  const { body } = await merchant.post('/api/v1/payment-links', {
    name: 'The last one',
    amount: `${PRICE}`,
    chain_id: chain.chainId,
    token_address: chain.token,
    recipient_address: recipient,
    max_uses: 1,
    payment_tolerance: tolerance,
  });
  return text(record(body).id);
}
