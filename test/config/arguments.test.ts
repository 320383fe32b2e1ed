import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/config/arguments.ts';
import { refusal } from './refusal.ts';

describe('the command line', () => {
  test.each([
    [[], { configFile: undefined, services: ['data', 'payments'], help: false }],
    [['--config', 'a.yaml'], { configFile: 'a.yaml', services: ['data', 'payments'], help: false }],
    [['--config=a.yaml', '--only', 'data'], { configFile: 'a.yaml', services: ['data'], help: false }],
    [['--only=payments'], { configFile: undefined, services: ['payments'], help: false }],
    [['--help'], { configFile: undefined, services: ['data', 'payments'], help: true }],
  ])('%o is understood', (argv, expected) => {
    expect(parseArguments(argv)).toEqual(expected);
  });

  test.each([[['--only', 'both']], [['--confg', 'a']], [['--config']], [['--config=']], [['file.yaml']]])(
    '%o is refused',
    argv => {
      expect(refusal(() => parseArguments(argv)).source).toBe('the command line');
    },
  );
});
