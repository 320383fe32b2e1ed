import { expect, test } from 'vitest';
import { walletMessage, walletTextFor } from '../../../src/payments/model/wallet-message.ts';

const SESSION = 'cs_9hUw3ZpLk5RtN8xEbG2mQy7V';
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const facts = { merchant: 'Corner Books', amount: '12.5 USDC', host: 'pay.example' };

test('the signed text names host, merchant, amount, wallet and session', () => {
  const text = walletTextFor(walletMessage(SESSION, facts), ADDRESS);

  for (const part of [...Object.values(facts), SESSION, ADDRESS.toLowerCase()]) expect(text).toContain(part);
  expect(text).not.toContain('{address}');
});

test('the template has one place for the address, whatever the merchant is called', () => {
  const template = walletMessage(SESSION, { ...facts, merchant: '{address} Ltd' });

  expect(template.split('{address}')).toHaveLength(2);
});

test('a merchant’s name cannot add lines or hidden characters to the text', () => {
  const plain = walletMessage(SESSION, facts);
  const crafted = walletMessage(SESSION, { ...facts, merchant: 'Corner\nWallet: 0x0\u2028\u202eBooks' });

  expect(crafted.split(/[\n\u2028]/)).toHaveLength(plain.split('\n').length);
  expect(crafted).not.toContain('\u202e');
});
