import { expect, test } from 'vitest';
import { lacking, stripped } from '../../scripts/texts-only/stripped-file.ts';

/** True when two versions of a file differ in texts at most. */
function hasSameCode(path: string, before: string, after: string): boolean {
  return stripped(before, path).code === stripped(after, path).code;
}

test.each([
  ['src/a.ts', '// old\nfail("no such key");', '/** New. */\nfail("the key is unknown");'],
  ['spec/a/openapi.yaml', 'title: Old\nminimum: 1 # one', 'title: New\nminimum: 1'],
  ['spec/a/examples/b.json', '{ "message": "an old text" }', '{ "message": "a new text" }'],
  ['compose.yaml', '# old\nservices: { a: 1 }', 'services:\n  a: 1 # new'],
  ['.ci/run', '#!/bin/sh\n# old\nnpm test', '#!/bin/sh\n# new\nnpm test'],
])('a comment or a text of %s is not code', (path, before, after) => {
  expect(hasSameCode(path, before, after)).toBe(true);
});

test.each([
  ['src/a.ts', 'fail("no such key", 1);', 'fail("no such key", 2);'],
  ['spec/a/openapi.yaml', 'minimum: 1', 'minimum: 2'],
  ['compose.yaml', 'services:\n  a:\n    ports: [1]', 'services:\n  a:\nports: [1]'],
  ['compose.yaml', 'command: tollgate --role data', 'command: tollgate --role indexer'],
  ['package.json', '{ "check": "tsc -p . && biome" }', '{ "check": "tsc -p . || biome" }'],
  ['.ci/run', '#!/bin/sh\nset -e', '#!/bin/bash\nset -e'],
  ['.ci/run', 'echo "a #1" | sh', 'echo "a #1" | cat'],
  ['scripts/a.py', 'if a:\n  b()', 'if a:\nb()'],
])('%s: other code is a difference', (path, before, after) => {
  expect(hasSameCode(path, before, after)).toBe(false);
});

test('two texts that changed places are shown', () => {
  const [before, after] = ['f("a b"); g("c d"); h("e f");', 'f("c d"); g("a b"); h("e f");'].map(text =>
    stripped(text, 'a.ts'),
  );

  expect(lacking(before, after)).toEqual(['"a b"', '"c d"']);
  expect(lacking(after, before)).toEqual(['"c d"', '"a b"']);
});
