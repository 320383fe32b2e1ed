import { describe, expect, test } from 'vitest';
import { InvalidParameter } from '#contract/contracts/violations.ts';
import { type Aggregation, planOf } from '#data/insights/expressions/plan.ts';
import type { Entity } from '#query-model/row-selection.ts';

function namesOf(entity: Entity, asked: Aggregation): string[] {
  return planOf(entity, asked).columns.map(({ name }) => name);
}

function refusal(entity: Entity, asked: Aggregation): string {
  try {
    planOf(entity, asked);
  } catch (error) {
    if (error instanceof InvalidParameter) return error.message;
    throw error;
  }
  return 'accepted';
}

const HEX_SUM = 'sum(reinterpretAsUInt256(reverse(unhex(substring(data, 3)))))';

describe('accepted expressions and the names in their rows', () => {
  const accepted: [Entity, Aggregation, string[]][] = [
    ['blocks', { aggregate: ['count()'] }, ['count()']],
    ['blocks', { aggregate: [' count( * ) '] }, ['count( * )']],
    ['blocks', { aggregate: ['COUNT() As total'] }, ['total']],
    ['blocks', { aggregate: ['count(1)', 'count(block_timestamp)'] }, ['count(1)', 'count(block_timestamp)']],
    ['blocks', { aggregate: ['min(number), max(number)'] }, ['min(number)', 'max(number)']],
    ['transactions', { aggregate: ['count(distinct from_address) as senders'] }, ['senders']],
    ['transactions', { aggregate: ['COUNT(DISTINCT(from_address)) as senders'] }, ['senders']],
    [
      'transactions',
      { aggregate: ['countDistinct(hash),uniq(to_address)'] },
      ['countDistinct(hash)', 'uniq(to_address)'],
    ],
    ['transactions', { aggregate: ['sum(gas_used * gas_price) AS total_fees_wei'] }, ['total_fees_wei']],
    ['transactions', { aggregate: ['sum(value) / count() as mean'] }, ['mean']],
    ['transactions', { aggregate: ['sum(value) / 1000000000.5'] }, ['sum(value) / 1000000000.5']],
    ['transactions', { aggregate: ['avg((value + 1) % 7 - gas)'] }, ['avg((value + 1) % 7 - gas)']],
    ['events', { aggregate: [`${HEX_SUM} as volume`] }, ['volume']],
    ['events', { aggregate: [`count(), ${HEX_SUM} / 1000000`] }, ['count()', `${HEX_SUM} / 1000000`]],
    ['events', { group_by: ['topic0'] }, ['topic0', 'count']],
    ['events', { group_by: ['topic_0 as event_signature'] }, ['event_signature', 'count']],
    ['transactions', { group_by: ['day'] }, ['day', 'count']],
    ['transactions', { group_by: ['week', 'status'], aggregate: ['count()'] }, ['week', 'status', 'count()']],
    [
      'transactions',
      { group_by: ['toStartOfHour(block_timestamp)'] },
      ['toStartOfHour(block_timestamp)', 'count'],
    ],
    [
      'transactions',
      { aggregate: ['toStartOfDay(toDate(block_timestamp)) as time, count() as n'], group_by: ['time'] },
      ['time', 'n'],
    ],
    [
      'transactions',
      { aggregate: ['from_address', 'count()'], group_by: ['from_address'] },
      ['from_address', 'count()'],
    ],
    ['blocks', { aggregate: ['toStartOfDay(block_timestamp) as day'], group_by: ['day'] }, ['day']],
    [
      'blocks',
      { aggregate: ['sum(gas_used) / block_number as x'], group_by: ['block_number'] },
      ['block_number', 'x'],
    ],
    ['blocks', { aggregate: ['count() as select'] }, ['select']],
    [
      'transactions',
      { aggregate: ['sum(value) as value', 'count() as hash'], sort_by: 'value' },
      ['value', 'hash'],
    ],
    ['transactions', { aggregate: ['count() as v'], group_by: ['from_address'] }, ['from_address', 'v']],
    ['blocks', { group_by: ['day as hash'] }, ['hash', 'count']],
    ['blocks', { aggregate: ['count() as constructor'], sort_by: 'constructor' }, ['constructor']],
    ['blocks', { aggregate: ['count()', 'count()'] }, ['count()']],
  ];
  test.each(accepted)('%s %j', (entity, asked, names) => {
    expect(namesOf(entity, asked)).toEqual(names);
  });
});

describe('refused expressions and the position in the message', () => {
  const HEX_FORM = 'is known only as reinterpretAsUInt256(reverse(unhex(substring(field, 3))))';
  const refused: [string, string][] = [
    ['', 'expected an expression, found the end at position 1'],
    ['count(', 'expected an expression, found the end at position 7'],
    ['count())', 'expected an operator, "as", a comma or the end, found ")" at position 8'],
    ['count() total', 'expected an operator, "as", a comma or the end, found "total" at position 9'],
    ['count(),', 'expected an expression, found the end at position 9'],
    ['count() as', 'expected an alias, found the end at position 11'],
    ['count() as 1a', '"1a" is not a number at position 12'],
    ['count() as _a', 'the alias "_a" does not begin with a letter at position 12'],
    [`count() as ${'a'.repeat(64)}`, 'is longer than 63 characters at position 12'],
    ['count() as distinct', 'the alias "distinct" is a word of the grammar at position 12'],
    ['count() as a, sum(gas) as a', 'the name "a" is used twice at position 27'],
    ['sum(nothing)', '"nothing" is not a field at position 5'],
    ['sum(constructor)', '"constructor" is not a field at position 5'],
    ['sum(__proto__)', '"__proto__" is not a field at position 5'],
    ['sum(from_address)', 'sum takes a number at position 5'],
    ['avg(day)', 'avg takes a number at position 5'],
    ['sum(value + hash)', '"+" takes numbers at position 11'],
    ['sum(value / 2 % 3)', '"%" takes integers at position 15'],
    ['min(hash) + 1', '"+" takes numbers at position 11'],
    ['sum(sum(value))', '"sum" must not be used inside a function or to group by at position 5'],
    ['sum()', 'sum takes one argument at position 1'],
    ['sum(value, gas)', 'sum takes one argument at position 1'],
    ['sum(*)', 'only count takes "*" at position 1'],
    ['sum(distinct value)', 'only count takes "distinct" at position 1'],
    ['count(*, 1)', 'expected ")", found "," at position 8'],
    ['value', '"value" is neither aggregated nor in group_by at position 1'],
    ['sum(value) + gas', '"gas" is neither aggregated nor in group_by at position 14'],
    ['1 + 1', '"1 + 1" has nothing to aggregate at position 1'],
    ['toDate(max(block_timestamp))', '"toDate" takes no aggregate at position 1'],
    ['min(toDate(value))', 'toDate takes a time at position 5'],
    ['min(sleep(1))', '"sleep" is not a function at position 5'],
    ['min(toString(1))', '"toString" is not a function at position 5'],
    ['sum(-1)', 'expected an expression, found "-" at position 5'],
    ['sum(1e18)', '"1e18" is not a number at position 5'],
    ['sum(0x10)', '"0x10" is not a number at position 5'],
    ['sum(1.)', 'unexpected "." at position 6'],
    [`sum(${'9'.repeat(79)})`, 'a number must have at most 78 digits at position 5'],
    ["count('a')", `unexpected "'" at position 7`],
    ['count("a")', 'unexpected """ at position 7'],
    ['count(a.b)', 'unexpected "." at position 8'],
    ['count(); drop table blocks', 'unexpected ";" at position 8'],
    ['count() 💥', 'unexpected "💥" at position 9'],
    ['count()\u0000', 'unexpected "\u0000" at position 8'],
    [`sum${'('.repeat(9)}1${')'.repeat(9)}`, 'nested deeper than 8 at position 13'],
    [`sum(1${'+1'.repeat(40)})`, 'more than 64 parts'],
    [`count()${' '.repeat(600)}`, 'must have at most 512 characters, is too long at position 513'],
    ['sum(reinterpretAsUInt256(data))', `reinterpretAsUInt256 ${HEX_FORM} at position 5`],
    ['sum(reinterpretAsUInt256(reverse(unhex(substring(data, 4)))))', `${HEX_FORM} at position 5`],
    ['sum(reinterpretAsUInt256(reverse(unhex(substring(gas, 3)))))', 'takes a field of hex at position 50'],
    ['min(unhex(data))', '"unhex" is not a function at position 5'],
    [Array(17).fill('count()').join(','), 'more than 16 expressions at position 129'],
  ];
  test.each(refused)('aggregate=%s', (text, rule) => {
    const message = refusal('transactions', { aggregate: [text] });

    expect(message).toMatch(/^aggregate: /);
    expect(message.endsWith(rule) || message.includes(`${rule} at position`)).toBe(true);
  });

  const others: [Aggregation, string][] = [
    [{ aggregate: ['count()', 'sum(x)'] }, 'aggregate: value 2: "x" is not a field at position 5'],
    [{ group_by: ['day', 'nothing'] }, 'group_by: value 2: "nothing" is not a field at position 1'],
    [
      { group_by: ['count()'] },
      'group_by: "count" must not be used inside a function or to group by at position 1',
    ],
    [{ group_by: ['1'] }, 'group_by: "1" has no field to group by at position 1'],
    [{ group_by: ['day,'] }, 'group_by: expected an expression, found the end at position 5'],
    [{ group_by: ['day,nothing'] }, 'group_by: "nothing" is not a field at position 5'],
    [{ group_by: [Array(9).fill('day').join(',')] }, 'group_by: more than 8 expressions at position 33'],
    [{ group_by: ['n'], aggregate: ['count() as n'] }, 'group_by: "n" is an aggregate at position 1'],
    [
      { group_by: ['day as hash', 'hash as h'] },
      'group_by: value 1: the alias "hash" is the name of a field that is grouped by at position 8',
    ],
    [
      { group_by: ['value as v2'], aggregate: ['count() as value'] },
      'group_by: "value" is an aggregate at position 1',
    ],
    [
      { group_by: ['value'], aggregate: ['gas as value, count()'] },
      'aggregate: the alias "value" is the name of a field that is grouped by at position 8',
    ],
    [{ group_by: ['day as x', 'hour as x'] }, 'group_by: value 2: the name "x" is used twice at position 1'],
    [{ group_by: Array(9).fill('day') }, 'group_by: must have at most 8 expressions'],
    [
      { group_by: ['day'], sort_by: 'hash' },
      'sort_by: "hash" at position 1 is neither an alias or expression of aggregate nor grouped by',
    ],
    [
      { aggregate: ['count()'], sort_by: '1; drop table blocks' },
      'sort_by: "1; drop table blocks" at position 1 is neither an alias or expression of aggregate nor grouped by',
    ],
  ];
  test.each(others)('%j', (asked, message) => {
    expect(refusal('transactions', asked)).toBe(message);
  });
});

describe('the plan for back ends', () => {
  test('has each equal fold once, and a sum and a count for an average', () => {
    const { folds } = planOf('transactions', {
      aggregate: ['avg(value)', 'sum( value ) as total', 'sum(value) / count(value) as mean'],
    });

    const of = { kind: 'field', name: 'value' };
    expect(folds).toEqual([
      { kind: 'sum', of },
      { kind: 'count', of },
    ]);
  });

  test('has one operator for the number in event data', () => {
    const { folds } = planOf('events', { aggregate: [HEX_SUM.replace('unhex', 'UNHEX')] });

    expect(folds).toEqual([
      { kind: 'sum', of: { kind: 'hexToInteger', of: { kind: 'field', name: 'data' } } },
    ]);
  });

  test('merges nested buckets where that gives the same result', () => {
    const { keys } = planOf('events', {
      group_by: ['toStartOfMonth(toDate(timestamp))', 'toStartOfHour(day)', 'toStartOfWeek(month)'],
    });

    const of = { kind: 'field', name: 'block_timestamp' };
    expect(keys).toEqual([
      { kind: 'bucket', bucket: 'month', of },
      { kind: 'bucket', bucket: 'day', of },
      { kind: 'bucket', bucket: 'week', of: { kind: 'bucket', bucket: 'month', of } },
    ]);
  });
});
