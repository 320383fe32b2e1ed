/**
 * Runs every test on both databases, in shards of vitest:
 *   npm run test:all [-- --again]
 * A run of the same files continues after the last shard that passed; with `--again` it starts over. Ends after 45
 * minutes, with 1 unless every shard passed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const SHARDS = 8;
const LIMIT_MS = 45 * 60_000;
const ROOT = join(import.meta.dirname, '..');
const PASSED = join(ROOT, 'node_modules', '.cache', 'test-all.json');

const { values } = parseArgs({ options: { again: { type: 'boolean', default: false } } });
const deadline = Date.now() + LIMIT_MS;
const tree = treeOf();
const passed = new Set(values.again ? [] : passedOf(tree));
const failed: number[] = [];

for (let shard = 1; shard <= SHARDS && Date.now() < deadline; shard += 1) {
  if (passed.has(shard)) continue;
  console.log(`shard ${shard} of ${SHARDS}`);
  const { status } = spawnSync('npx', ['vitest', 'run', '--mode', 'all', `--shard=${shard}/${SHARDS}`], {
    cwd: ROOT,
    stdio: 'inherit',
    timeout: deadline - Date.now(),
  });
  if (status === 0) passed.add(shard);
  else failed.push(shard);
  mkdirSync(dirname(PASSED), { recursive: true });
  writeFileSync(PASSED, JSON.stringify({ tree, passed: [...passed] }));
}

const left = SHARDS - passed.size - failed.length;
console.log(
  `${passed.size} shards passed, ${failed.length} failed (${failed.join(', ') || 'none'}), ${left} not run`,
);
if (passed.size < SHARDS) process.exitCode = 1;

/** Fingerprint of all files that are not ignored. */
function treeOf(): string {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }).split('\0');
  const hash = createHash('sha256');
  for (const file of files.filter(Boolean).sort()) hash.update(`${file}\0`).update(contentOf(file));
  return hash.digest('hex');
}

/** Empty for a file that was deleted and is still in git's index. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(join(ROOT, file));
  } catch {
    return Buffer.alloc(0);
  }
}

function passedOf(current: string): number[] {
  try {
    const { tree: of, passed: shards } = JSON.parse(readFileSync(PASSED, 'utf8'));
    return of === current ? shards : [];
  } catch {
    return [];
  }
}
