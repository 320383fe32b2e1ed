/**
 * Generates everything under generated/ from spec/, spec/schema/ from the migrations, and spec/decisions.md: `npm run
 * generate`. With `--check` it writes nothing and fails when a committed file differs from the generated one.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { compileContracts } from './compile-contracts.ts';
import { generateContracts } from './generate/contracts.ts';
import { generateDecisions } from './generate/decisions.ts';
import { generateSchemas } from './generate/schemas.ts';
import { generateConfig } from './generate-config.ts';

const check = process.argv.includes('--check');
const files = new Map([
  ...(await generateContracts()),
  ...(await generateConfig()),
  ...(await generateSchemas()),
  ...generateDecisions(),
]);
const stale: string[] = await compileContracts({ check });
for (const [path, content] of files) {
  const current = await readFile(path, 'utf8').catch(() => undefined);
  if (current === content) continue;
  stale.push(path);
  if (!check) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}
if (check && stale.length > 0) {
  console.error(`Stale, run npm run generate:\n${stale.map(path => `  ${path}`).join('\n')}`);
  process.exitCode = 1;
} else {
  console.log(
    stale.length === 0 ? `${files.size} generated files are up to date` : `wrote ${stale.join(', ')}`,
  );
}
