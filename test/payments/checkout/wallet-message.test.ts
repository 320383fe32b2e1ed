import { createSiweMessage, parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { expect, test } from 'vitest';
import { walletMessage } from '#payments/checkout/wallet-message.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const wallet = { origin: 'https://pay.example.com', address: ADDRESS.toLowerCase() };
const facts = {
  merchant: 'Corner Books',
  amount: 12_500_000n,
  token: { symbol: 'USDC', decimals: 6, address: `0x${'70'.repeat(20)}` },
  uri: 'https://pay.example.com/pay/s/cs_9hUw3ZpLk5RtN8xEbG2mQy7V',
  chainId: 8453,
  nonce: '9hUw3ZpLk5RtN8xEbG2mQy7V',
  issuedAt: Date.UTC(2026, 10, 21, 10),
};
const STATEMENT = 'Pay 12.5 USDC to Corner Books. Signing costs nothing and moves no money.';

test.each([
  ['https://pay.example.com', 'pay.example.com', undefined],
  ['https://shop.example:8443', 'shop.example:8443', undefined],
  ['http://localhost:5173', 'localhost:5173', 'http'],
  ['http://127.0.0.1:3001', '127.0.0.1:3001', 'http'],
])(
  'a message for %s is written, parsed and accepted alike by the library of the standard',
  (origin, domain, scheme) => {
    const text = walletMessage(facts, { ...wallet, origin });

    const message = parseSiweMessage(text);
    const { uri, chainId, nonce, issuedAt } = facts;
    const written = {
      domain,
      address: ADDRESS,
      uri,
      chainId,
      nonce,
      version: '1',
      statement: STATEMENT,
    } as const;
    expect(text).toBe(
      createSiweMessage({ ...written, issuedAt: new Date(issuedAt), ...(scheme && { scheme }) }),
    );
    expect(message).toMatchObject({ ...written, issuedAt: new Date(issuedAt) });
    expect(validateSiweMessage({ message, address: ADDRESS, domain, nonce })).toBe(true);
  },
);

test('hosts without a dot and IPv6 hosts are written unchanged', () => {
  const first = (origin: string) => walletMessage(facts, { ...wallet, origin }).split(' ')[0];

  expect(first('http://payments:3001')).toBe('http://payments:3001');
  expect(first('http://[::1]:3001')).toBe('http://[::1]:3001');
});

test('the address has its checksum, and a single placeholder stands for an unknown one', () => {
  const open = walletMessage({ ...facts, merchant: '{address} Ltd' }, { ...wallet, address: undefined });

  expect(walletMessage(facts, wallet).split('\n')[1]).toBe(ADDRESS);
  expect(open.split('{address}')).toHaveLength(2);
  expect(open.split('\n')[1]).toBe('{address}');
});

test.each([
  ['Café Zoë', 'Pay 12.5 USDC to Cafe Zoe. '],
  ['Corner\nURI: https://evil.example', 'Pay 12.5 USDC. '],
  ['Corner\u2028\u202eBooks', 'Pay 12.5 USDC. '],
  ['книги', 'Pay 12.5 USDC. '],
])('a merchant named %j adds no line break and no invalid character to the statement', (merchant, start) => {
  const text = walletMessage({ ...facts, merchant }, wallet);

  expect(parseSiweMessage(text).statement?.startsWith(start)).toBe(true);
  expect(text.split('\n')).toHaveLength(walletMessage(facts, wallet).split('\n').length);
  expect(text).toMatch(/^[\n -~]+$/);
});

test('a token whose symbol is invalid in a statement is named by its address', () => {
  const token = { ...facts.token, symbol: 'USD₮' };

  expect(parseSiweMessage(walletMessage({ ...facts, token }, wallet)).statement).toContain(
    `Pay 12.5 of token ${token.address} to Corner Books.`,
  );
});
