import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { keccak } from 'hash-wasm';
import { type Hex, zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import { CURRENT_FACTORY, factoryOf, forwarderAddress } from '#deposits/deposit-factory.ts';
import { depositSalt, type SaltParts } from '#deposits/salt.ts';
import { list, number, record, text } from '../lab/json.ts';
import { addressOf } from '../lab/payment-chain.ts';

const GUIDE = readFileSync('docs/deposit-addresses.md', 'utf8');

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => addressOf(`0x${hexOf(bytes)}`));
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytes => addressOf(`0x${hexOf(bytes)}`));
const parts = fc.record({ seed: word, epoch: word, number: fc.maxSafeNat() });

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Keccak-256 of hexadecimal text by another library, without anything that the product shares. */
async function hashOf(...texts: string[]): Promise<string> {
  return `0x${await keccak(Buffer.from(texts.map(one => one.replace('0x', '')).join(''), 'hex'), 256)}`;
}

test('the examples of the guide hold', () => {
  const [, block = ''] = /```json\n(.*?)```/s.exec(GUIDE) ?? [];
  const { seed, epoch, addresses } = record(JSON.parse(block));

  expect(GUIDE).toContain(`\`${CURRENT_FACTORY.address}\` (version ${CURRENT_FACTORY.version})`);
  expect(list(addresses)).toHaveLength(3);
  for (const example of list(addresses).map(record)) {
    const salt = depositSalt({
      seed: addressOf(text(seed)),
      epoch: addressOf(text(epoch)),
      number: number(example.number),
    });
    const recipient = addressOf(text(example.recipient));

    expect({ salt, address: forwarderAddress({ recipient, salt }) }).toEqual({
      salt: example.salt,
      address: example.address,
    });
  }
});

test('salt and address are the hashes that the guide describes', async () => {
  const { forwarderCode, address: factory } = CURRENT_FACTORY;
  await fc.assert(
    fc.asyncProperty(parts, address, async ({ seed, epoch, number: count }, recipient) => {
      fc.pre(recipient !== zeroAddress);
      const salt = await hashOf('1'.padStart(64, '0'), seed, epoch, count.toString(16).padStart(64, '0'));
      const code = await hashOf(forwarderCode, recipient.slice(2).padStart(64, '0'));
      const hash = await hashOf('ff', factory, salt, code);

      expect(depositSalt({ seed, epoch, number: count })).toBe(salt);
      expect(forwarderAddress({ recipient, salt: addressOf(salt) }).toLowerCase()).toBe(
        `0x${hash.slice(26)}`,
      );
    }),
  );
});

test('another seed, epoch, number or recipient gives another address', () => {
  const addressFor = ({ recipient, ...rest }: SaltParts & { recipient: Hex }) =>
    forwarderAddress({ recipient, salt: depositSalt(rest) });
  const whole = fc.record({ seed: word, epoch: word, number: fc.maxSafeNat(), recipient: address });
  fc.assert(
    fc.property(whole, whole, fc.constantFrom('seed', 'epoch', 'number', 'recipient'), (one, other, part) => {
      fc.pre(one[part] !== other[part] && one.recipient !== zeroAddress && other.recipient !== zeroAddress);

      expect(addressFor({ ...one, [part]: other[part] })).not.toBe(addressFor(one));
    }),
  );
});

test('what is no part of a salt is refused, and so is the zero address', () => {
  const fine: SaltParts = { seed: `0x${'11'.repeat(32)}`, epoch: `0x${'22'.repeat(32)}`, number: 0 };

  for (const count of [-1, 0.5, 2 ** 53, Number.NaN])
    expect(() => depositSalt({ ...fine, number: count })).toThrow(RangeError);
  expect(() => depositSalt({ ...fine, seed: '0x11' })).toThrow();
  expect(() => depositSalt({ ...fine, epoch: `0x${'22'.repeat(33)}` })).toThrow();
  expect(() => forwarderAddress({ recipient: zeroAddress, salt: fine.seed })).toThrow(RangeError);
});

test('version 1 of the factory has the bytes with which addresses were computed', () => {
  const { address: at, creationCode, codeHash, forwarderCode } = factoryOf(1) ?? CURRENT_FACTORY;
  const digest = (code: Hex) => createHash('sha256').update(code).digest('hex').slice(0, 16);

  // These never change: money may lie at addresses that follow from them.
  expect([at, codeHash, digest(creationCode), digest(forwarderCode)]).toEqual([
    '0x23F9e05d925900005D4739a5C02110E2Fb631A40',
    '0x2cb9b45d16b771b7c1cec4f6f30241065124da8f13a19a4de83faacd9308d76e',
    '395471970dd784c4',
    'ac76faf86961bb3e',
  ]);
  expect(factoryOf(2)).toBeUndefined();
});
