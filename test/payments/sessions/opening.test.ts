import { describe, expect, test } from 'vitest';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import {
  type Choices,
  type Circumstances,
  openingOf,
  type SessionDraft,
  type Terms,
} from '#payments/sessions/opening.ts';
import { aLink, RECORD_TIME } from '../../lab/payments-records.ts';

const OWNER = { organizationId: 'org_a', mode: 'test' } as const;
const TOKEN = aLink(OWNER).tokenAddress;
const MINUTE = 60_000;
const chains = paymentChains([
  {
    id: 31_337,
    name: 'Local',
    mode: 'test',
    tokens: [{ address: TOKEN, symbol: 'USDC', decimals: 6 }],
    confirmations: 3,
    explorerUrl: undefined,
  },
]);
const CIRCUMSTANCES: Circumstances = {
  id: 'cs_a',
  ...OWNER,
  merchant: { name: 'Acme', logoUrl: null, toleranceBps: 0 },
  chains,
  now: RECORD_TIME,
  lifetimeMs: 30 * MINUTE,
  successUrl: undefined,
  cancelUrl: null,
};
const ADDRESS = { line1: '12 St James’s Square', city: 'London', zip: 'SW1Y 4JH' };
const POST = { id: 'post', name: 'Post', amount: '500', estimated_days: null };
const EXPRESS = { id: 'express', name: 'Express', amount: '900', estimated_days: 1 };

function opened(terms: Terms, choices: Choices = {}, changes: Partial<Circumstances> = {}): SessionDraft {
  const opening = openingOf(terms, choices, { ...CIRCUMSTANCES, ...changes });
  if ('fault' in opening) throw new Error(opening.fault.message);
  return opening.draft;
}

/** Code and field of the fault; undefined without one. */
function faultOf(changes: Partial<PaymentLink>, choices: Choices = {}): string | undefined {
  const opening = openingOf({ link: aLink(OWNER, changes) }, choices, CIRCUMSTANCES);
  return 'fault' in opening ? [opening.fault.code, opening.fault.facts.param].join(' ').trim() : undefined;
}

const linkOf = (changes: Partial<PaymentLink> = {}) => ({ link: aLink(OWNER, changes) });

type FormSchema = NonNullable<PaymentLink['formSchema']>;
const KINDS = ['text', 'email', 'phone', 'select', 'textarea', 'number', 'checkbox'] as const;
const formOf = (
  type: (typeof KINDS)[number],
  changes: Partial<FormSchema['fields'][number]> = {},
): FormSchema => ({
  fields: [{ id: 'it', type, label: 'It', required: false, placeholder: null, options: [], ...changes }],
});

describe('the price', () => {
  test('is the link’s, and the payer cannot set one', () => {
    expect(opened(linkOf({ amount: 700n })).amount).toBe(700n);
    expect(faultOf({ amount: 700n }, { amount: '700' })).toBe('invalid_field_value amount');
  });

  test('is the sum of the items if the link has none, and the payer cannot set one', () => {
    const item = { id: 'pli_a', name: 'Pen', description: null, image_url: null, amount: '30', quantity: 4 };
    const items = [item, { ...item, amount: '5', quantity: 1 }];

    expect(opened(linkOf({ amount: null, items })).subtotal).toBe(125n);
    expect(faultOf({ amount: null, items }, { amount: '125' })).toBe('invalid_field_value amount');
  });

  test('is the payer’s choice between the bounds, which are included', () => {
    const link = { amount: null, minAmount: 10n, maxAmount: 20n };

    expect(['10', '20'].map(amount => opened(linkOf(link), { amount }).amount)).toEqual([10n, 20n]);
    expect(['9', '21'].map(amount => faultOf(link, { amount }))).toEqual([
      'invalid_field_value amount',
      'invalid_field_value amount',
    ]);
    expect(faultOf(link)).toBe('missing_required_field amount');
  });

  test('includes shipping, and does not exceed the largest token amount', () => {
    const link = { amount: null, shippingOptions: [POST, EXPRESS] };
    const largest = 2n ** 256n - 1n;
    const choices = (subtotal: bigint) => ({ amount: `${subtotal}`, shipping_option_id: 'express' });

    expect(opened(linkOf(link), choices(100n))).toMatchObject({
      subtotal: 100n,
      amount: 1000n,
      shippingOption: EXPRESS,
    });
    expect(opened(linkOf(link), choices(largest - 900n)).amount).toBe(largest);
    expect(faultOf(link, choices(largest - 899n))).toBe('invalid_field_value amount');
  });
});

describe('shipping', () => {
  test('must be one of the link’s options, unless it has none', () => {
    const shippingOptions = [POST];

    expect(faultOf({ shippingOptions })).toBe('missing_required_field shipping_option_id');
    expect(faultOf({ shippingOptions }, { shipping_option_id: null })).toBe(
      'missing_required_field shipping_option_id',
    );
    expect(faultOf({ shippingOptions }, { shipping_option_id: 'air' })).toBe(
      'invalid_field_value shipping_option_id',
    );
    expect(faultOf({}, { shipping_option_id: 'post' })).toBe('invalid_field_value shipping_option_id');
  });

  test('requires an address if the link collects one, and drops it otherwise', () => {
    const asking = { collectShippingAddress: true };

    expect(faultOf(asking)).toBe('missing_required_field shipping_address');
    expect(opened(linkOf(asking), { shipping_address: ADDRESS }).shippingAddress).toEqual({
      ...ADDRESS,
      name: null,
      line2: null,
      state: null,
      country: null,
    });
    expect(opened(linkOf(), { shipping_address: ADDRESS }).shippingAddress).toBeNull();
  });
});

describe('form data', () => {
  test.each<[(typeof KINDS)[number], (string | number | boolean)[], (string | number | boolean)[]]>([
    ['text', ['Ada', '= 1'], [1, true, 'two\nlines']],
    ['textarea', ['two\r\nlines'], [1, 'a bell \u0007']],
    [
      'email',
      ['ada@example.com', "o'hara+1@a.b-c.org"],
      ['ada', 'ada@', 'a b@c.d', 1, `${'a'.repeat(251)}@b.c`],
    ],
    ['phone', ['+44 (0)20 7946-0958', '112'], ['call me', '+', '12', 112, '1'.repeat(41)]],
    ['select', ['S', 'M'], ['L', 's', true]],
    ['number', [0, -1.5, 1e9], ['1', true, Number.POSITIVE_INFINITY]],
    ['checkbox', [true, false], ['true', 1]],
  ])('of a %s field is checked by its type', (type, right, wrong) => {
    const formSchema = formOf(type, { options: ['S', 'M'] });

    for (const it of right) {
      expect(opened(linkOf({ formSchema }), { form_data: { it } }).formData).toEqual({ it });
    }
    for (const it of wrong) {
      expect([it, faultOf({ formSchema }, { form_data: { it } })]).toEqual([
        it,
        'invalid_field_value form_data.it',
      ]);
    }
  });

  test.each(KINDS)('of a required %s field must be present', type => {
    const formSchema = formOf(type, { required: true });

    expect(faultOf({ formSchema })).toBe('missing_required_field form_data.it');
    expect(faultOf({ formSchema }, { form_data: null })).toBe('missing_required_field form_data.it');
    expect(faultOf({ formSchema }, { form_data: { it: ' ' } })).toBe('missing_required_field form_data.it');
  });

  test('of a required checkbox must be true', () => {
    const formSchema = formOf('checkbox', { required: true });

    expect(faultOf({ formSchema }, { form_data: { it: false } })).toBe('missing_required_field form_data.it');
    expect(faultOf({ formSchema }, { form_data: { it: true } })).toBeUndefined();
  });

  test('drops unknown and empty fields', () => {
    const choices = { form_data: { it: '', more: 'x' } };

    expect(opened(linkOf({ formSchema: formOf('email') }), choices).formData).toEqual({});
    expect(opened(linkOf(), choices).formData).toBeNull();
  });

  test('never comes from inherited properties', () => {
    const formSchema = formOf('text', { id: 'constructor' });

    expect(opened(linkOf({ formSchema }), { form_data: {} }).formData).toEqual({});
  });
});

describe('the reported fault is', () => {
  test('a missing field before an invalid one', () => {
    const link = { collectShippingAddress: true };

    expect(faultOf(link, { amount: '1' })).toBe('missing_required_field shipping_address');
  });

  test('the body’s before the link’s state', () => {
    expect(faultOf({ isActive: false }, { amount: '1' })).toBe('invalid_field_value amount');
  });

  test.each<[string, Partial<PaymentLink>]>([
    ['switched off', { isActive: false }],
    ['used up', { maxUses: 2, currentUses: 2 }],
    ['expired', { expiresAt: RECORD_TIME }],
    ['on a chain of the other mode', { mode: 'live' }],
    ['on a chain that is not configured', { chainId: 5 }],
    ['in a token that is not configured', { tokenAddress: NATIVE_COIN }],
  ])('the state of the link when it is %s', (_, changes) => {
    const opening = openingOf(linkOf(changes), {}, { ...CIRCUMSTANCES, mode: changes.mode ?? 'test' });

    expect(opening).toMatchObject({ fault: { code: 'invalid_status_transition' } });
  });
});

describe('a session', () => {
  test('ends after its lifetime, or with its link', () => {
    const end = (expiresAt: number | null) => opened(linkOf({ expiresAt })).expiresAt - RECORD_TIME;

    expect([end(null), end(RECORD_TIME + 90 * MINUTE), end(RECORD_TIME + 1)]).toEqual([
      30 * MINUTE,
      30 * MINUTE,
      1,
    ]);
  });

  test('has the link’s return address unless it has its own', () => {
    const link = linkOf({ returnUrl: 'https://shop.example/link' });

    expect(opened(link).successUrl).toBe('https://shop.example/link');
    expect(opened(link, {}, { successUrl: 'https://shop.example/own' }).successUrl).toBe(
      'https://shop.example/own',
    );
  });

  test('shows the branding of its link, or else the organization', () => {
    const logo_url = 'https://shop.example/logo.png';
    const merchantOf = (branding: PaymentLink['branding']) =>
      opened(linkOf({ branding })).presentation.merchant;

    expect(merchantOf(null)).toEqual({ name: 'Acme', logo_url: null });
    expect(merchantOf({ business_name: null, logo_url })).toEqual({ name: 'Acme', logo_url });
    expect(merchantOf({ business_name: 'Shop', logo_url })).toEqual({ name: 'Shop', logo_url });
  });

  test('with its own terms has no link, and keeps the shipping address', () => {
    const own = {
      chainId: 31_337,
      tokenAddress: TOKEN,
      recipientAddress: `0x${'5e'.repeat(20)}`,
      amount: 9n,
    };

    const draft = opened({ own }, { shipping_address: ADDRESS, form_data: { it: 'x' } });

    expect(draft).toMatchObject({
      paymentLinkId: null,
      chainId: 31_337,
      amount: 9n,
      requiredConfirmations: 3,
      formData: null,
      shippingAddress: ADDRESS,
      presentation: { name: null, buttonText: 'Pay', merchant: { name: 'Acme' } },
    });
  });
});
