import { describe, expect, test } from 'vitest';
import { stateChange } from '#data/backends/blockscout/normalise/state-change.ts';
import { each, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const OPERATION = 'listTransactionStateChanges';

function changesOf(name: string) {
  return each(fieldsOf(fixtureOf(OPERATION, name).body).items, stateChange);
}

describe('state change', () => {
  test.each(fixturesOf(OPERATION))('$name becomes the contract’s record', async ({ name }) => {
    const items = changesOf(name);

    expect(items).toHaveLength(4);
    expect(await validates(OPERATION, { items, next_page_params: null })).toEqual([]);
  });

  test.each(['v6.9', 'v8', 'v11'])('%s is the same as 12', name => {
    expect(changesOf(name)).toEqual(changesOf('v12'));
  });

  test('5 is the same, except for the instances that it lacks', () => {
    expect(changesOf('v5').slice(0, 3)).toEqual(changesOf('v12').slice(0, 3));
    expect(changesOf('v5')[3]?.change).toEqual([
      { direction: 'to', total: { token_id: expect.stringMatching(/^\d{78}$/) } },
      { direction: 'from', total: { token_id: '8' } },
    ]);
  });

  test('an ERC-721 change is a list of NFTs', () => {
    expect(changesOf('v11')[3]).toMatchObject({
      type: 'token',
      token_id: null,
      balance_before: '3',
      balance_after: '4',
      change: [
        { direction: 'to', total: { token_instance: { is_unique: true } } },
        { direction: 'from', total: { token_id: '8' } },
      ],
    });
  });

  test('a number with an exponent and one beyond 2^53 are exact', () => {
    const [reward, payment, multi] = changesOf('v11-optimism');

    expect(reward).toMatchObject({ change: '21000', balance_before: '18446744073709551616' });
    expect(payment?.change).toBe('-1500000000000000000');
    expect(multi?.token_id).toBe('9007199254740993');
  });

  test('when one balance is negative, both are unknown', () => {
    expect(changesOf('v11-optimism')[1]).toMatchObject({ balance_before: null, balance_after: null });
  });

  test('an NFT without details has an unknown id, and ids appear only in the change', () => {
    expect(changesOf('v11-optimism')[3]).toMatchObject({
      token_id: null,
      change: [{ direction: 'from', total: { token_id: null } }],
    });
  });

  test('a change without its address or type is unreadable', () => {
    const { address } = fieldsOf(changesOf('v12')[0]);

    expect(() => stateChange({ type: 'coin', address: null })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'address' }),
    );
    expect(() => stateChange({ type: 'gas', address })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'type' }),
    );
  });

  test('the path of the error leads into the list of NFTs', () => {
    const { address } = fieldsOf(changesOf('v12')[0]);
    const change = [
      { direction: 'to', total: { token_id: '1' } },
      { direction: 'to', total: { token_instance: {} } },
    ];

    expect(() => each([{ type: 'token', address, change }], stateChange)).toThrow(
      expect.objectContaining({ path: '[0].change[1].total.token_instance.id' }),
    );
  });
});
