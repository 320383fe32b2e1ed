import { expect, test } from 'vitest';
import { figureOf, newFigures, slowdowns, tableOf } from '../../scripts/bench/figure.ts';
import { timeRatio } from '../../scripts/bench/turns.ts';

const rate = (rounds: readonly number[]) => figureOf({ name: 'hits', rounds, wanted: { atLeast: 0.6 } });
const time = (rounds: readonly number[]) => figureOf({ name: 'page, ms', rounds, wanted: { atMost: 25 } });

test('a figure of several rounds is their median with its spread', () => {
  const figure = rate([0.7, 0.5, 0.65]);

  expect(tableOf([figure])).toContain('| hits | 0.65 | 0.50 to 0.70 | ≥ 0.6 | yes |  |');
});

test('a figure that is worse than in an earlier run by more than the spread is reported', () => {
  const earlier = tableOf([rate([0.69, 0.7, 0.71]), time([20, 21, 22])]);

  const slower = slowdowns([rate([0.6, 0.61, 0.62]), time([30, 31, 32])], earlier);
  const alike = slowdowns([rate([0.66, 0.69, 0.7]), time([22, 23, 24])], earlier);
  const better = slowdowns([rate([0.9, 0.9, 0.9]), time([2, 2, 2])], earlier);

  expect(slower).toEqual(['hits: 0.61, 0.70 before', 'page, ms: 31, 21 before']);
  expect([...alike, ...better]).toEqual([]);
});

test('figures of every kind are compared, and exactly the slower ones are reported', () => {
  const extra = (rounds: readonly number[]) => figureOf({ name: 'extra µs', rounds, wanted: { atMost: 45 } });
  const lag = (rounds: readonly number[]) => figureOf({ name: 'lag, ms', rounds });
  const earlier = tableOf([
    rate([0.7, 0.7, 0.7]),
    time([9, 10, 11]),
    extra([-1, -0.5, -0.2]),
    lag([0.8, 0.9, 1]),
  ]);

  const slower = slowdowns(
    [rate([0.71, 0.71, 0.71]), time([11, 12, 13]), extra([1.5, 2, 2.5]), lag([1, 1.05, 1.1])],
    earlier,
  );

  expect(slower).toEqual(['extra µs: 2, -0.50 before']);
});

test('a figure that could no longer be measured is reported', () => {
  const lost = time([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);

  expect(slowdowns([lost], tableOf([time([1, 2, 3])]))).toEqual(['page, ms: Infinity, 2 before']);
});

test('a figure that the earlier run lacks or names otherwise is listed, because it is not compared', () => {
  const earlier = tableOf([rate([0.7, 0.7, 0.7])]);
  const now = [rate([0.7, 0.7, 0.7]), time([99, 99, 99])];

  expect(newFigures(now, earlier)).toEqual(['page, ms']);
  expect(newFigures(now, 'another file')).toEqual(['hits', 'page, ms']);
});

test('a figure without a limit accepts any value', () => {
  const figure = figureOf({ name: 'lag, ms', rounds: [1, 2, 3] });

  expect(tableOf([figure])).toContain('| lag, ms | 2 | 1 to 3 | any | yes |  |');
});

test('a figure of fewer than three rounds is refused', () => {
  expect(() => rate([0.7, 0.7])).toThrow(RangeError);
});

test('alternating measurements give one ratio for each of five parts', () => {
  const base = Array.from({ length: 15 }, () => 2);
  const other = Array.from({ length: 15 }, (_, round) => 2 + Math.floor(round / 3));

  const figure = timeRatio('growth', { base, other }, { atMost: 1.5 });

  expect(figure).toMatchObject({ value: 2, spread: [1, 3], ok: false, note: '2.00 ms → 4.00 ms' });
});

test('other output of an earlier run next to its table is ignored', () => {
  const earlier = `Node v24\n\n${tableOf([rate([0.7, 0.7, 0.7])])}\nmore text | with | bars`;

  expect(slowdowns([rate([0.5, 0.5, 0.5])], earlier)).toHaveLength(1);
  expect(slowdowns([time([99, 99, 99])], earlier)).toEqual([]);
});
