import fc from 'fast-check';
import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { ENGLISH } from '#payments/browser/languages/en.ts';
import type { SessionView } from '#payments/checkout/page/browser/session/states.ts';
import { linkPage } from '#payments/checkout/page/link-page.ts';
import { sessionPage } from '#payments/checkout/page/session-page.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { pageAssets } from '#payments/page-assets.ts';
import { aLink, RECORD_TIME } from '../../lab/payments-records.ts';

const assets = pageAssets();
const ADDRESS = `0x${'5e'.repeat(20)}`;
const HASH = `0x${'4f'.repeat(32)}`;
const ITEM = { id: 'pli_7bNe3KyHq6SvR1uCgO5jMx2D', image_url: null, amount: '5', quantity: 2 };
const PAID = {
  status: 'completed',
  payment_status: 'paid',
  outcome: 'paid',
  amount_received: '12500000',
} as const;
const END = new Date(RECORD_TIME).toISOString();

/** Untrusted texts and addresses of a page. */
interface Foreign {
  readonly text?: string;
  readonly beside?: string;
  readonly address?: string | null;
}

/** The page of a link with the untrusted text in every place for text. */
function linkText({ text = 'Text', beside = text, address = null }: Foreign): string {
  const link = aLink(
    { organizationId: 'org_0', mode: 'test' },
    {
      name: text,
      description: beside,
      buttonText: text,
      imageUrl: address,
      amount: null,
      items: [],
      formSchema: {
        fields: [
          {
            id: 'a',
            type: 'select',
            label: text,
            required: true,
            placeholder: beside,
            options: [text, beside],
          },
          { id: 'b', type: 'text', label: beside, required: false, placeholder: text, options: [] },
          { id: 'c', type: 'textarea', label: text, required: false, placeholder: text, options: [] },
          { id: 'd', type: 'checkbox', label: text, required: false, placeholder: null, options: [] },
        ],
      },
      shippingOptions: [{ id: text, name: text, amount: '0', estimated_days: 3 }],
    },
  );
  return linkPage(
    { assets, texts: ENGLISH },
    {
      link,
      chain: { id: 1, name: text, mode: 'test', tokens: [], confirmations: 1, explorerUrl: undefined },
      token: { address: ADDRESS, symbol: text, decimals: 6 },
      merchant: { name: text, logo_url: address, contact_email: null, site_url: address, terms_url: address },
      availability: 'active',
      nextUseAt: undefined,
      clientReferenceId: beside,
    },
  );
}

/** The page of a session with the untrusted text in every place for text. */
function sessionText(
  { text = 'Text', beside = text, address = null }: Foreign,
  state: Partial<SessionView['state']> = {},
  { token = ADDRESS, seesContracts = true } = {},
): string {
  const shared = {
    id: 'cs_000000000000000000000000',
    status: 'active',
    payment_status: 'awaiting_payment',
    outcome: 'waiting',
    amount_due: '12500001',
    amount_received: '0',
    amount_overpaid: '0',
    amount_refunded: '0',
    amount_reserved: '0',
    payer_address: null,
    tx_hash: HASH,
    confirmations: 0,
    required_confirmations: 3,
    wallet_only: false,
    amount_remaining: '12500000',
    return_url: address,
    expires_at: END,
    completed_at: null,
    ...state,
  } as const;
  const session: SessionView = {
    checkout: {
      ...shared,
      object: 'checkout',
      client_reference_id: text,
      merchant: { name: text, logo_url: address, contact_email: null, site_url: address, terms_url: address },
      name: text,
      description: beside,
      image_url: address,
      theme_color: text,
      button_text: text,
      items: [{ ...ITEM, name: text, description: beside, image_url: address }],
      subtotal: '12500000',
      shipping_option: { id: 'a', name: text, amount: '0', estimated_days: null },
      amount: '12500000',
      token: { address: token, symbol: text, decimals: 6 },
      chain: { id: 1, name: text, is_testnet: true, explorer_url: address },
      recipient_address: ADDRESS,
      payment_method: 'exact_amount',
      deposit_address: null,
      payment_uri: null,
      wallet_message: text,
      return_label: beside,
      cancel_url: address,
    },
    state: {
      ...shared,
      object: 'checkout_state',
      failure_reason: null,
      late: false,
      is_chain_late: false,
      accepts_payment: true,
      use_reserved_until: null,
      all_uses_reserved: false,
      next_use_at: null,
      candidates: [{ amount: '12500000', is_only: true, confirmations: 1, required_confirmations: 3 }],
    },
    signedAddress: shared.payer_address,
    seesContracts,
    now: RECORD_TIME - 1,
    recognisedUntil: RECORD_TIME + 86_400_000,
  };
  return sessionPage({ assets, texts: ENGLISH }, session, `https://pay.example/pay/s/${shared.id}`);
}

/** Links of the pay page into wallet apps, with nothing but the page's own address. */
const APP = /^https:\/\/[a-z.-]+\/(?:dapp|open_url)[^"]*pay\.example(?:%2F|\/)pay(?:%2F|\/)s(?:%2F|\/)cs_0+$/;

const pagesOf = (foreign: Foreign) => [
  linkText(foreign),
  sessionText(foreign),
  sessionText(foreign, {
    payment_status: 'underpaid',
    outcome: 'partial',
    amount_received: '1',
    payer_address: ADDRESS,
  }),
  sessionText(foreign, PAID),
];

/** The tags of a page without attribute values and content. */
function skeleton(page: string): string {
  return (page.match(/<(?:[^"<>]|"[^"]*")*>/g) ?? []).map(tag => tag.replace(/"[^"]*"/g, '""')).join('\n');
}

/** Any texts, some of which look like markup. None is empty: an empty attribute is written differently. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('2 + 2 =', ' href="', '="', '">', "' onclick='x", '</title><svg onload=x>', '-->', '&lt;'),
);

test('every value in a page is escaped, in content and in attributes', () => {
  const text = `<script>alert("1")</script>'&`;
  const written = `&lt;script>alert(&quot;1&quot;)&lt;/script>'&amp;`;

  const page = linkText({ text });

  expect(page).not.toContain('<script>alert');
  expect(page).toContain(`<h1 id="title">${written}</h1>`);
  expect(page).toContain(`placeholder="${written}"`);
});

test('payers of coins are asked to use a wallet of their own where coins from contracts are not found', () => {
  const coinsText = (seesContracts: boolean) =>
    sessionText({ text: 'ETH' }, {}, { token: NATIVE_COIN, seesContracts });
  const [coins, tokens] = [coinsText(false), sessionText({ text: 'USDC' })];

  expect(coins).toContain('Send it from your own wallet');
  expect(coins).toContain('ETH that an exchange or a contract sends may not be recognised.');
  expect(coins).not.toContain('Fees of an exchange');
  expect(tokens).toContain('Send it from anywhere');
  expect(tokens).toContain('Fees of an exchange come on top.');
  expect(coinsText(true)).toContain('Send it from anywhere');
  expect(coinsText(true)).toContain('Fees of an exchange come on top.');
});

test('the contract of a token has its checksum, although the request of a wallet app has not', () => {
  const page = sessionText({ text: 'USDC' });

  expect(page).toContain(`<dt>USDC contract</dt><dd><code>${getAddress(ADDRESS)}</code>`);
  expect(page).toContain(`href="ethereum:${ADDRESS}@1/transfer?address=${ADDRESS}&amp;`);
});

test('no text can break out of its place', () => {
  const harmless = pagesOf({}).map(skeleton);

  fc.assert(
    fc.property(anyText, anyText, (text, beside) => {
      expect(pagesOf({ text, beside }).map(skeleton)).toEqual(harmless);
    }),
    { numRuns: 50 },
  );
});

test('no text changes how a neighbouring text is written', () => {
  const writtenAlone = (page: string) => /<h1 id="title">([^<]*)</.exec(page)?.[1];

  fc.assert(
    fc.property(anyText, anyText, (text, beside) => {
      const page = linkText({ text, beside });

      expect(writtenAlone(page)).toBe(writtenAlone(linkText({ text })));
      expect(/<p class="description">([^<]*)</.exec(page)?.[1]).toBe(
        writtenAlone(linkText({ text: beside })),
      );
    }),
    { numRuns: 50 },
  );
});

const addressesIn = (page: string) =>
  [...page.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(([, address = '']) => address);

test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  '//evil.example/x.js',
  'blob:x',
])('a page neither links to nor loads %j', address => {
  for (const page of pagesOf({ address })) {
    const others = addressesIn(page).filter(one => !APP.test(one) && !/^(\/(?!\/)|#|ethereum:0x)/.test(one));

    expect(others).toEqual([]);
  }
});

test('a page may link to an https address of its merchant and load pictures from it', () => {
  const address = 'https://a.example/?b=1';

  const [link, open, , paid] = pagesOf({ address });

  expect(link).toContain(`<img class="logo" src="${address}"`);
  expect(open).toContain(`<p class="leave"><a href="${address}"`);
  expect(paid).toContain(`<a class="primary" href="${address}"`);
});
