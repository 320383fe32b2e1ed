import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Build of this software that a process runs. */
export interface Build {
  readonly version: string;
  /** Full id of its commit in git; null when it is not known. */
  readonly commit: string | null;
}

const ROOT = new URL('../../', import.meta.url);
/** Generous, because a start must not wait for git for long. */
const GIT_PATIENCE_MS = 2_000;

const manifest = manifestIn(readFileSync(new URL('package.json', ROOT), 'utf8'));

/** Version of this software, from package.json. */
export const VERSION = manifest.version;

let known: Build | undefined;

/** Build that this process runs. The commit is the one that was packed, or in a checkout the one that git names. */
export function build(): Build {
  known ??= { version: VERSION, commit: manifest.commit ?? commitOfCheckout() ?? null };
  return known;
}

const byNumbers = new Intl.Collator('en', { numeric: true });

/** Orders versions numerically, oldest first. A pre-release sorts after its own version and before the next one. */
export function compareVersions(a: string, b: string): number {
  return byNumbers.compare(a, b);
}

function manifestIn(text: string): { version: string; commit: string | undefined } {
  const { version, commit }: { version?: unknown; commit?: unknown } = JSON.parse(text);
  if (typeof version !== 'string') throw new Error('package.json has no version');
  return { version, commit: typeof commit === 'string' && commit !== '' ? commit : undefined };
}

/** Asks git only in a checkout of our own: a folder above may belong to another project. */
function commitOfCheckout(): string | undefined {
  if (!existsSync(new URL('.git', ROOT))) return undefined;
  try {
    const out = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: fileURLToPath(ROOT),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: GIT_PATIENCE_MS,
    });
    return out.trim();
  } catch {
    return undefined; // without git, or in a checkout of another user
  }
}
