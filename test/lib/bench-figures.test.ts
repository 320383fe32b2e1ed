import { expect, test } from 'vitest';
import { figureOf, slowdowns, tableOf } from '../../scripts/bench/figure.ts';

const rate = (rounds: readonly number[]) => figureOf({ name: 'hits', rounds, wanted: { atLeast: 0.6 } });
const time = (rounds: readonly number[]) => figureOf({ name: 'page, ms', rounds, wanted: { atMost: 25 } });

test('a figure of several rounds is their median with its spread', () => {
  const figure = rate([0.7, 0.5, 0.65]);

  expect(tableOf([figure])).toContain('| hits | 0.65 | 0.50 to 0.70 | ≥ 0.6 | yes |  |');
});

test('a figure that is worse than in an earlier run by more than the spread is named', () => {
  const earlier = tableOf([rate([0.69, 0.7, 0.71]), time([20, 21, 22])]);

  const slower = slowdowns([rate([0.6, 0.61, 0.62]), time([30, 31, 32])], earlier);
  const alike = slowdowns([rate([0.66, 0.69, 0.7]), time([22, 23, 24])], earlier);
  const better = slowdowns([rate([0.9, 0.9, 0.9]), time([2, 2, 2])], earlier);

  expect(slower).toEqual(['hits: 0.61, 0.70 before', 'page, ms: 31, 21 before']);
  expect([...alike, ...better]).toEqual([]);
});

test('what an earlier run printed beside its table does no harm', () => {
  const earlier = `Node v24\n\n${tableOf([rate([0.7, 0.7, 0.7])])}\nmore text | with | bars`;

  expect(slowdowns([rate([0.5, 0.5, 0.5])], earlier)).toHaveLength(1);
  expect(slowdowns([time([99, 99, 99])], earlier)).toEqual([]);
});
