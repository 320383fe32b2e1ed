import { describe, expect, test } from 'vitest';
import { summary } from '#data/backends/blockscout/normalise/summary.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const OPERATION = 'getTransactionSummary';

function summaryOf(name: string) {
  return summary(fixtureOf(OPERATION, name).body);
}

describe('summary', () => {
  test.each(fixturesOf(OPERATION))('$name becomes the contract’s record', async ({ body }) => {
    expect(await validates(OPERATION, summary(body))).toEqual([]);
  });

  test.each(['v5', 'v6.9', 'v8'])('%s is the same as 11', name => {
    expect(summaryOf(name)).toEqual(summaryOf('v11'));
  });

  test('a failed or pending transaction has an empty summary', () => {
    expect(summaryOf('v11-failed')).toEqual({ success: false, data: { summaries: [] } });
  });

  test('complete tokens and addresses become the contract’s records, and others are passed on unchanged', () => {
    const [first, second] = summaryOf('v11').data.summaries;

    expect(first?.summary_template_variables).toMatchObject({
      action_type: { type: 'string', value: 'Transfer' },
      token: { type: 'token', value: { symbol: 'TEA', holders: '48211' } },
      to_address: { type: 'address', value: { implementation_name: null, public_tags: [] } },
    });
    expect(second?.summary_template_variables.to_address?.value).toEqual({
      hash: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    });
  });

  test('variables of any type keep their values, and a missing value is null', () => {
    expect(summaryOf('v11-variables').data.summaries[0]?.summary_template_variables).toEqual({
      actionType: { type: 'string', value: 'Swap' },
      list: { type: 'array', value: ['1', 9007199254740993n] },
      market: {
        type: 'dexTag',
        value: {
          name: 'TeaSwap',
          icon: 'https://assets.example.org/swap.png',
          url: 'https://swap.example.org',
          app_id: 'tea',
        },
      },
      site: { type: 'external_link', value: { name: 'shop', link: 'https://shop.example.org' } },
      code: { type: 'code', value: '0x00' },
      count: { type: 'number', value: 2000 },
      odd: { type: 'mood', value: null },
      stranger: { type: 'token', value: { symbol: 'ODD' } },
    });
  });

  test('the summary service’s debug data is left out', () => {
    expect(Object.keys(summaryOf('v11-variables').data)).toEqual(['summaries']);
  });

  test('a sentence without a template is unreadable', () => {
    expect(() => summary({ success: true, data: { summaries: [{ summary_template: null }] } })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'data.summaries[0].summary_template' }),
    );
  });

  test('an error in place of a summary is unreadable', () => {
    expect(() => summary('Internal server error')).toThrow(expect.objectContaining({ path: '' }));
  });
});
