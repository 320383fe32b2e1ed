import { expect, test } from 'vitest';
import { joinModules } from '#pages/joined-modules.ts';

/** Joins modules by name, in the order of evaluation, and adds an export of the last one. */
function joined(sources: Readonly<Record<string, string>>) {
  const names = Object.keys(sources);
  return joinModules({
    modules: Object.entries(sources).map(([name, code]) => ({ name, code, source: code })),
    idOf: name => `module_${names.indexOf(name)}`,
    nameOf: specifier => specifier,
    isShared: true,
    mapAddress: '/script.js.map',
  });
}

/** Runs a script, and returns the exports of its last module. */
async function run(sources: Readonly<Record<string, string>>): Promise<unknown> {
  const script = await import(`data:text/javascript,${encodeURIComponent(joined(sources).code)}`);
  return script[`module_${Object.keys(sources).length - 1}`];
}

test('joined modules import from each other in every form that pages use', async () => {
  const exported = await run({
    named:
      'export const one = 1;\nexport function two() { return one + 1; }\nexport class Three { value = 3; }',
    list: 'const a=4,b=5;export{a as four,b as default};',
    main: 'export default function (value) { return -value; }',
    passed: 'export{four,default}from"list";',
    all: `
import { one, two as second, Three } from 'named';
import five, { four } from 'passed';
import * as everything from 'list';
import negative from 'main';
import 'named';
const text = \`
import hashlib
export const no = 1;
\`;
export const values = [one, second(), new Three().value, four, five, everything.four, negative(6)];
export { text };`,
  });

  expect(exported).toEqual({
    values: [1, 2, 3, 4, 5, 4, -6],
    text: '\nimport hashlib\nexport const no = 1;\n',
  });
});

test('modules of one script may use the same names for their own variables', async () => {
  const exported = await run({
    first: 'const name = "first";\nexport const says = () => name;',
    second: 'import { says } from "first";\nconst name = "second";\nexport const both = [says(), name];',
  });

  expect(exported).toEqual({ both: ['first', 'second'] });
});

test('the source map names the line and the module of each line', () => {
  const sources = {
    first: 'export const one = 1;\n\nexport const two = 2;',
    second: "import {\n  one,\n  two,\n} from 'first';\nexport const three = one + two;",
  };

  const { code, map } = joined(sources);

  const lines = code.split('\n');
  const { sections } = JSON.parse(map);
  for (const { offset, map: part } of sections) {
    const [name] = part.sources;
    const [source] = part.sourcesContent;
    const last = source.split('\n').length - 1;
    expect(part.mappings.split(';')).toHaveLength(last + 1);
    expect(lines[offset.line + last]?.trim()).toBe(source.split('\n').at(-1).replace('export', '').trim());
    expect(Object.keys(sources)).toContain(name);
  }
});
