/** Runs the TypeScript samples of the documentation variant, except those that name or change records of payments. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';

const answers: string[] = [];
const originalFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await originalFetch(input, init);
  answers.push(`${response.status} ${response.url}`);
  return response;
};
const print = console.log;
console.log = () => undefined;

for (const service of ['data', 'payments']) {
  const folder = new URL(`./${service}/`, import.meta.url);
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), 'utf8');
    const changesOrNames =
      service === 'payments' && (!text.includes('client.GET(') || /path:|session_id:/.test(text));
    if (file !== 'tollgate.js' && !changesOrNames) await import(new URL(file, folder).href);
  }
}

assert.deepEqual(
  answers.filter(answer => !answer.startsWith('200 ')),
  [],
);
assert.ok(answers.length > 40, `${answers.length} samples`);
print(`samples: ${answers.length} answered with 200`);
