import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/config/arguments.ts';
import { UsageError } from '../../src/lib/command-line.ts';

describe('the command line', () => {
  test.each([
    [[], { configFile: undefined, roles: undefined, help: false }],
    [['--config', 'a.yaml'], { configFile: 'a.yaml', roles: undefined, help: false }],
    [
      ['--config=a.yaml', '--only', 'data'],
      { configFile: 'a.yaml', roles: ['data', 'indexer'], help: false },
    ],
    [
      ['--only=payments'],
      { configFile: undefined, roles: ['payments', 'settlement', 'delivery'], help: false },
    ],
    [['--role', 'indexer'], { configFile: undefined, roles: ['indexer'], help: false }],
    [
      ['--role', 'delivery, settlement', '--role=data,data'],
      { configFile: undefined, roles: ['data', 'settlement', 'delivery'], help: false },
    ],
    [['--help'], { configFile: undefined, roles: undefined, help: true }],
  ])('%o is accepted', (argv, expected) => {
    expect(parseArguments(argv)).toEqual(expected);
  });

  test.each([
    [['--only', 'both']],
    [['--only', 'data', '--role', 'data']],
    [['--role', '']],
    [['--role', 'data,']],
    [['--role']],
    [['--confg', 'a']],
    [['--config']],
    [['--config=']],
    [['file.yaml']],
  ])('%o is refused', argv => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
  });

  test('an unknown role is refused with a suggestion', () => {
    expect(() => parseArguments(['--role', 'data,setlement'])).toThrow(
      '--role takes data, indexer, payments, settlement, delivery; did you mean settlement?',
    );
  });
});
