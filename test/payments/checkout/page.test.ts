import { createHash } from 'node:crypto';
import { formatUnits, getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record } from '../../lab/json.ts';
import { type ServedPages, servePages } from '../../support/checkout-pages.ts';

/** The content security policy of a page. The only inline script it allows is the import map. */
const policyOf = (text: string) =>
  `default-src 'none'; script-src 'self' 'sha256-${mapHash(text)}'; worker-src 'self'; style-src 'self'; img-src 'self' data: https:; connect-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'`;
const PAYER = `0x${'3c'.repeat(20)}`;
const HASH = `0x${'4f'.repeat(32)}`;

let pages: ServedPages;
beforeAll(async () => {
  pages = await servePages();
});
afterAll(() => pages[Symbol.asyncDispose]());

async function linkPage(changes: Parameters<ServedPages['link']>[0] = {}, query = '') {
  const link = await pages.link(changes);
  return pages.get(`/pay/${link.shortCode}${query}`);
}

async function sessionPage() {
  const session = await pages.session(await pages.link());
  return pages.get(`/pay/s/${session.id}`);
}

describe('the page of a link', () => {
  test('shows merchant, offer, price in tokens and network in words', async () => {
    const { status, text } = await linkPage({
      name: 'Field notebooks',
      description: 'Two of them',
      amount: 12_500_000n,
    });

    expect(status).toBe(200);
    for (const part of ['Corner Books', 'Field notebooks', 'Two of them', '12.5 USDC', 'on Local network'])
      expect(text).toContain(part);
  });

  test('shows the merchant name of the link’s branding', async () => {
    const { text } = await linkPage({ branding: { business_name: 'Corner Books II', logo_url: null } });

    expect(text).toContain('Corner Books II');
  });

  test('is read without side effects', async () => {
    const link = await pages.link();
    const before = await pages.kept(link);

    await pages.get(`/pay/${link.shortCode}`);

    expect(await pages.kept(link)).toEqual(before);
  });

  test('answers HEAD like GET, without the body', async () => {
    const { shortCode } = await pages.link();

    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map(method => fetch(`${pages.url}/pay/${shortCode}`, { method })),
    );

    expect(head?.status).toBe(200);
    expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'));
    expect(await head?.text()).toBe('');
  });

  test('is shown even when its texts end in an equals sign', async () => {
    const field = { id: 'sum', type: 'text', label: '2 + 2 =', required: true, placeholder: null } as const;
    const item = { id: 'pli_7bNe3KyHq6SvR1uCgO5jMx2D', name: 'Item =', description: null, image_url: null };
    const { status, text } = await linkPage({
      amount: null,
      items: [{ ...item, amount: '5', quantity: 2 }],
      formSchema: { fields: [{ ...field, options: [] }] },
      shippingOptions: [{ id: 'post', name: 'Post =', amount: '0', estimated_days: 3 }],
    });

    expect(status).toBe(200);
    for (const part of ['2 + 2 =', 'Post =', 'Item =']) expect(text).toContain(part);
  });

  test.each([
    ['inactive', { isActive: false }, 'This payment link is not active'],
    ['used up', { maxUses: 3, currentUses: 3 }, 'Sold out'],
    ['expired', { expiresAt: 1 }, 'This payment link has expired'],
  ])('of an %s link is 410, says so, and has no form', async (_, changes, title) => {
    const { status, text } = await linkPage({ name: 'Field notebooks', ...changes });

    expect(status).toBe(410);
    expect(text).toContain(title);
    expect(text).toContain('Field notebooks');
    expect(text).not.toContain('<form');
  });

  test('of a link whose token was removed from the configuration is 410 and asks for no payment', async () => {
    const { status, text } = await linkPage({ tokenAddress: `0x${'aa'.repeat(20)}` });

    expect(status).toBe(410);
    expect(text).toContain('This cannot be paid at the moment');
  });

  test('carries the merchant’s reference from the query', async () => {
    expect(dataIn((await linkPage({}, '?client_reference_id=order-1042')).text).reference).toBe('order-1042');
  });

  test.each([
    '?client_reference_id=%22%3E%3Cb',
    '?client_reference_id=a&client_reference_id=b',
    '?client_reference_id=',
  ])('ignores the reference %s', async query => {
    expect(dataIn((await linkPage({}, query)).text).reference).toBeNull();
  });

  test('takes no return address from the query', async () => {
    const { text } = await linkPage({}, '?success_url=https://evil.example&return_url=https://evil.example');

    expect(text).not.toContain('evil.example');
  });

  test('adds the first shipping option to the price', async () => {
    const { text } = await linkPage({
      amount: 12_000_000n,
      shippingOptions: [{ id: 'express', name: 'Express', amount: '2500000', estimated_days: 2 }],
    });

    expect(text).toContain('14.5 USDC');
  });

  test.each([
    ['Pay', 'Continue to payment', 'Pay'],
    ['Donate', 'Donate', 'Donate'],
  ])(
    'of a link with the button text %s leads to the payment, and only its session asks to pay',
    async (buttonText, offered, paid) => {
      const link = await pages.link({ amount: 12_500_000n, buttonText });
      const session = await pages.session(link);

      const [offer, checkout] = await Promise.all(
        [`/pay/${link.shortCode}`, `/pay/s/${session.id}`].map(path => pages.get(path)),
      );

      expect(offer?.text).toMatch(
        new RegExp(`<button class="primary" type="submit"[^>]*>${offered}</button>`),
      );
      expect(checkout?.text).toContain(`<span>${paid}</span> <span class="button-amount">12.5 USDC</span>`);
    },
  );

  test('shows the suggested amount with the shipping as the price, and asks for one without it', async () => {
    const shippingOptions = [{ id: 'express', name: 'Express', amount: '2500000', estimated_days: 2 }];
    const open = { amount: null, shippingOptions };
    const suggesting = await linkPage({ ...open, suggestedAmount: 5_000_000n });
    const asking = await linkPage(open);

    expect(suggesting.text).toContain('<strong id="price">7.5 USDC</strong>');
    expect(asking.text).toContain('You choose the amount');
  });
});

describe('the page of a session', () => {
  test('whose token or chain was removed from the configuration is 410 and asks for no payment', async () => {
    for (const gone of [{ tokenAddress: `0x${'aa'.repeat(20)}` }, { chainId: 5 }]) {
      const session = await pages.session(await pages.link(), {}, gone);

      const { status, text } = await pages.get(`/pay/s/${session.id}`);

      expect(status).toBe(410);
      expect(text).toContain('This checkout can no longer be shown');
    }
  });

  test('says which parts need scripts, like the page of a link', async () => {
    for (const { text } of await Promise.all([sessionPage(), linkPage()])) {
      expect(text).toMatch(/<noscript><p class="note">[^<]*please allow scripts on this page/);
    }
  });

  test('shows how to pay: exact amount, address, network and QR code', async () => {
    const link = await pages.link({ amount: 777_000_000n });
    const session = await pages.session(link);
    const due = session.amountDue;
    const asked = formatUnits(due, 6);

    const { text } = await pages.get(`/pay/s/${session.id}`);

    for (const part of [asked, 'Local network, and no other', `${asked} USDC on`])
      expect(text).toContain(part);
    expect(text).toContain(`<dt>To address</dt><dd><code>${getAddress(link.recipientAddress)}</code>`);
    expect(text).toContain(
      `href="ethereum:${link.tokenAddress}@31337/transfer?address=${link.recipientAddress}&amp;uint256=${due}"`,
    );
    expect(text).toContain(`${formatUnits(due - 777_000_000n, 6)} USDC more than the price`);
  });

  test('asks a wallet for the price, and a transfer for the exact amount with its tail set apart', async () => {
    const session = await pages.session(await pages.link({ amount: 12_500_000n }));
    const due = formatUnits(session.amountDue, 6);
    const tail = due.slice('12.5'.length);

    const { text } = await pages.get(`/pay/s/${session.id}`);

    expect(text).toContain('<span class="button-amount">12.5 USDC</span>');
    expect(text).toContain(`<strong class="amount">12.5<span class="tail">${tail}</span></strong>`);
    expect(text).toContain('Send exactly this amount');
    expect(text).toContain('at most 0.125 USDC: 1 % of the price or 0.05 USDC, whichever is larger');
  });

  test('asks for the missing part of the price after a first part', async () => {
    const session = await pages.session(
      await pages.link({ amount: 12_500_000n }),
      {},
      { paymentStatus: 'underpaid', amountReceived: 4_500_000n, payerAddress: PAYER, signedAddress: PAYER },
    );

    const { text } = await pages.get(`/pay/s/${session.id}`);

    expect(text).toContain('<span class="button-amount">8 USDC</span>');
    expect(text).toContain('<strong class="amount">8</strong>');
    expect(text).not.toContain('whichever is larger');
  });

  test('has neither QR code nor address when only a wallet can pay', async () => {
    // The largest uint256 leaves no room for a tail.
    const link = await pages.link({ amount: 2n ** 256n - 1n });
    const second = await pages.session(link);

    const { text } = await pages.get(`/pay/s/${second.id}`);

    expect(text).toContain('id="pay"');
    expect(text).not.toContain('class="qr"');
    expect(text).toContain('with the wallet button only');
    expect(text).not.toContain('Many people');
  });

  test('is not cached, indexed or framed, and sends no referrer', async () => {
    const { headers, text } = await sessionPage();

    expect(headers.get('content-security-policy')).toBe(policyOf(text));
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each([
    'https://books.example/thanks?s={SESSION_ID}',
    'javascript:alert(1)',
    'http://books.example/thanks',
  ])('links back only to an https address: %s', async successUrl => {
    const session = await pages.session(
      await pages.link(),
      {},
      { status: 'completed', successUrl, txHash: HASH },
    );

    const { text } = await pages.get(`/pay/s/${session.id}`);

    const isLed = text.includes(`<a class="primary" href="https://books.example/thanks?s=${session.id}"`);
    expect(isLed).toBe(successUrl.startsWith('https:'));
    expect(text).not.toMatch(/href="(javascript:|http:\/\/books)/);
  });
});

describe('text from a merchant', () => {
  test.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title><svg onload=alert(1)>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
  ])('is shown as text: %s', async evil => {
    const changes = {
      name: evil,
      description: evil,
      buttonText: evil,
      returnLabel: evil,
      returnUrl: 'https://books.example/',
      amount: null,
      branding: { business_name: evil, logo_url: 'javascript:alert(1)' },
      imageUrl: 'javascript:alert(1)',
      themeColor: evil,
      items: [
        {
          id: 'pli_7bNe3KyHq6SvR1uCgO5jMx2D',
          name: evil,
          description: evil,
          image_url: evil,
          amount: '5',
          quantity: 2,
        },
      ],
      formSchema: {
        fields: [
          {
            id: 'a',
            type: 'select' as const,
            label: evil,
            required: false,
            placeholder: evil,
            options: [evil],
          },
          { id: 'b', type: 'text' as const, label: evil, required: false, placeholder: evil, options: [] },
        ],
      },
      shippingOptions: [{ id: 'x', name: evil, amount: '0', estimated_days: null }],
    };
    const link = await pages.link(changes);
    const session = await pages.session(link, { shipping_option_id: 'x' });
    const completed = await pages.session(
      link,
      { shipping_option_id: 'x' },
      { status: 'completed', txHash: HASH },
    );

    const all = [`/pay/${link.shortCode}`, `/pay/s/${session.id}`, `/pay/s/${completed.id}`];
    for (const { status, text } of await Promise.all(all.map(path => pages.get(path)))) {
      expect(status).toBe(200);
      // Apostrophes stay as they are: all attributes are in double quotes.
      expect(text.includes(evil)).toBe(!/[<"&]/.test(evil));
      expect(text).not.toContain('javascript:');
      const markup = text.replaceAll(/"[^"]*"/g, '""').replaceAll(/>[^<]*</g, '><');
      expect(markup).not.toMatch(/alert|\son\w+=/i);
      expect(scriptsOf(text)).toEqual(['type="importmap"', 'type="module" src']);
      expect(text).not.toContain('/pay/theme/');
    }
  });
});

describe('pages in general', () => {
  test('have no inline scripts and no inline styles', async () => {
    const link = await pages.link({ themeColor: '#0052FF' });
    const session = await pages.session(link);

    for (const path of [`/pay/${link.shortCode}`, `/pay/s/${session.id}`, '/pay/unknown']) {
      const { text } = await pages.get(path);
      const modules = path === '/pay/unknown' ? [] : ['type="module" src'];
      expect(scriptsOf(text)).toEqual(['type="importmap"', ...modules]);
      expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=/i);
    }
  });

  test.each([
    '/pay',
    '/pay/',
    '/pay/nobody-has-this',
    '/pay/x',
    '/pay/s/cs_000000000000000000000000',
    '/pay/s/x',
    '/pay/s/',
    '/pay/theme/zzzzzz.css',
    '/pay/assets/0000000000000000/checkout.css',
    '/pay/assets/%2e%2e%2froutes.ts',
  ])('answer %s with a 404 page', async path => {
    const { status, headers, text } = await pages.get(path);

    expect(status).toBe(404);
    expect(headers.get('content-security-policy')).toBe(policyOf(text));
    expect(text).toContain('This page does not exist');
  });

  test('have one spelling: another letter case, a trailing slash or an encoded character is a 404 page', async () => {
    const link = await pages.link({ shortCode: 'AbCd1234' });
    const session = await pages.session(link);
    const served = [`/pay/${link.shortCode}`, `/pay/s/${session.id}`, '/pay/theme/0052ff.css'];
    const { text } = await pages.get(`/pay/${link.shortCode}`);
    const file = /"(\/assets\/[0-9a-f]{16}\/[\w/]+\/pay\.css)"/.exec(text)?.[1] ?? '';
    const unknown = [...served, file].flatMap(path => [
      `${path}/`,
      path.replace(/\/(?=[^/]*$)/, '%2F'),
      path.replace(/[a-z](?=[^a-z]*$)/i, letter => `%${letter.charCodeAt(0).toString(16)}`),
      path.replace(/^\/\w+\//, '$&/'),
      path.replace(/[^/]*$/, name => (name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase())),
    ]);

    for (const path of [...served, file]) expect([path, (await pages.get(path)).status]).toEqual([path, 200]);
    for (const path of ['/pay', '/pay/', '/pay/S/', ...unknown]) {
      const { status, text: page } = await pages.get(path);
      expect([path, status]).toEqual([path, 404]);
      if (path.startsWith('/pay/')) expect(page).toContain('This page does not exist');
    }
    for (const path of served.map(one => one.replace('/pay/', '/PAY/'))) {
      const { status, headers } = await pages.get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  test('accept GET and HEAD only', async () => {
    const { shortCode } = await pages.link();

    for (const path of [`/pay/${shortCode}`, '/pay', '/pay/no/such/page']) {
      for (const method of ['POST', 'OPTIONS']) {
        const answer = await fetch(pages.url + path, { method });

        expect(answer.status).toBe(405);
        expect(answer.headers.get('allow')).toBe('GET, HEAD');
      }
    }
  });

  test('load files that browsers cache for good, at addresses that change with their content', async () => {
    const { text } = await linkPage();
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[0-9a-f]{16}\/[\w./-]+)"/g)].map(
      match => match[1],
    );

    expect(paths.length).toBeGreaterThan(4);
    for (const path of new Set(paths)) {
      const { status, headers } = await pages.get(path ?? '');
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-type')).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/svg\+xml)$/,
      );
    }
  });

  test('take the merchant’s colour from a style sheet', async () => {
    const { text } = await linkPage({ themeColor: '#0052FF' });
    const sheet = await pages.get('/pay/theme/0052ff.css');

    expect(text).toContain('<link rel="stylesheet" href="/pay/theme/0052ff.css"/>');
    expect(sheet.status).toBe(200);
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(sheet.text).toContain('--accent:#0052ff;--on-accent:#ffffff');
  });
});

/** The data from which the browser renders a page again. */
function dataIn(text: string): Readonly<Record<string, unknown>> {
  const data = /<main [^>]*data-page="([^"]*)"/.exec(text)?.[1] ?? '';
  return record(JSON.parse(data.replaceAll('&quot;', '"')));
}

/** The scripts of a page without file addresses and the import map. Any other text is an inline script. */
function scriptsOf(text: string): string[] {
  const map = mapOf(text);
  return [...text.matchAll(/<script([^>]*)>([^<]*)/gi)].map(([, attributes = '', content = '']) => {
    const named = attributes.trim().replace(/="\/assets\/[^"]+"$/, '');
    return content === map ? named : named + content;
  });
}

/** The import map of a page. It may name files of this server only. */
function mapOf(text: string): string {
  const map = /<script type="importmap">([^<]*)<\/script>/.exec(text)?.[1] ?? '';
  for (const address of Object.values(record(record(JSON.parse(map)).imports))) {
    expect(address).toMatch(/^\/assets\/[0-9a-f]{16}\//);
  }
  return map;
}

function mapHash(text: string): string {
  return createHash('sha256').update(mapOf(text)).digest('base64');
}
