import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const FORGE = join(ROOT, 'node_modules', '@foundry-rs', 'forge', 'bin.mjs');
const PROJECT = join(import.meta.dirname, 'forge');
/** Forge needs a third of this on an idle machine. */
const TIMEOUT_MS = 110_000;

/** The invariants are in `forge/Invariants.t.sol`, and what happens to forwarders in `forge/Handler.sol`. */
test('in any order of payments, sweeps and faults, money is at its forwarder or with its recipient', async () => {
  const output = await mkdtemp(join(tmpdir(), 'forge-'));
  onTestFinished(() => rm(output, { recursive: true }));
  const [failures, artifacts, cache] = ['failures', 'artifacts', 'cache'].map(name => join(output, name));
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: output,
    FOUNDRY_CONFIG: join(PROJECT, 'foundry.toml'),
    FOUNDRY_SOLC: join(PROJECT, 'solc.js'),
    FOUNDRY_OUT: artifacts,
    FOUNDRY_CACHE_PATH: cache,
    FOUNDRY_FUZZ_FAILURE_PERSIST_DIR: failures,
    FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: failures,
  };

  const { stdout } = await promisify(execFile)(process.execPath, [FORGE, 'test', '--root', ROOT], {
    env,
    timeout: TIMEOUT_MS,
  }).catch((error: Error & { stdout?: string }) => ({ stdout: error.stdout ?? error.message }));

  expect(stdout).toContain('Suite result: ok. 3 passed; 0 failed; 0 skipped');
});
