import { describe, expect, test } from 'vitest';
import { tokenInstance, tokenInstanceOrNull } from '#data/backends/blockscout/normalise/token.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

/** Generations except the latest, which is the reference. */
const EARLIER = ['v5', 'v6.9', 'v8', 'v11'];
const ALICE = '0x4C1f9a0B27D3e85A6F10c2b7D9384E5f6A7B8C90';

function instanceOf(name: string) {
  return tokenInstance(fixtureOf('getTokenInstance', name).body);
}

describe('token instance', () => {
  test.each(fixturesOf('getTokenInstance'))('$name becomes the contract’s record', async ({ body }) => {
    expect(await validates('getTokenInstance', tokenInstance(body))).toEqual([]);
  });

  test.each(EARLIER)('%s has the values of the latest generation', name => {
    const { owner, ...record } = instanceOf(name);
    const { owner: latestOwner, ...latest } = instanceOf('v12');

    expect(record).toEqual(latest);
    expect(owner?.hash.toLowerCase()).toBe(ALICE.toLowerCase());
    expect(owner?.hash).toBe(latestOwner?.hash);
  });

  test('an id keeps all its 78 digits', () => {
    expect(instanceOf('v5').id).toBe(
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    );
  });

  test('a number in the metadata keeps digits that a double would lose', () => {
    expect(instanceOf('v11').metadata).toMatchObject({
      attributes: [{ value: 'Black' }, { value: 9007199254740993n }],
    });
  });

  test('the owner of a unique id is its only holder', () => {
    const { owner, holder_address_hash: holder } = instanceOf('v11');

    expect(holder).toBe(owner?.hash);
  });

  test('an id of several holders has neither owner nor only holder', () => {
    const instance = instanceOf('v11-several');

    expect(instance).toMatchObject({ is_unique: false, owner: null });
    expect(instance).not.toHaveProperty('holder_address_hash');
  });

  test('metadata that is not an object and links with a script scheme are absent', () => {
    const instance = instanceOf('v11-several');

    expect(instance).not.toHaveProperty('metadata');
    expect(instance).not.toHaveProperty('external_app_url');
    expect(instance).not.toHaveProperty('animation_url');
    expect(instance.image_url).toBe('data:image/svg+xml;base64,PHN2Zy8+');
  });

  test('a link that is not a string is absent', () => {
    const instance = tokenInstance({ id: '1', image_url: ['https://a.example.org'], animation_url: 7 });

    expect(instance).toEqual({ is_unique: null, id: '1', owner: null, token: null });
  });

  test('a missing token is null', () => {
    expect(instanceOf('v12-unknown')).toEqual({ is_unique: null, id: '78', owner: null, token: null });
  });

  test('a missing instance is null', () => {
    expect([tokenInstanceOrNull(null), tokenInstanceOrNull(undefined)]).toEqual([null, null]);
  });

  test('an instance without its id is unreadable', () => {
    expect(() => tokenInstance({ id: null, metadata: {} })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'id' }),
    );
  });

  test('the path of the error leads to the field that its token lacks', () => {
    expect(() => tokenInstanceOrNull({ id: '1', token: { name: 'x' } })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'token.address_hash' }),
    );
  });
});
