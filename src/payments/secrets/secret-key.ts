import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Source of the secrets that seal values: the text itself, or a file, which is created when it is missing. */
export type SecretKeySource = { kind: 'value'; value: string } | { kind: 'file'; file: string };

const SHORTEST = 32;

/**
 * Returns the secrets for `seals()`: one, or several separated by white space, the current one first. Creates a missing
 * file unless `mayCreate` is false.
 * @throws when there is none, one is shorter than 32 characters, or all users of the machine can access the file.
 */
export async function readSecretKeys(
  source: SecretKeySource,
  { mayCreate = true }: { mayCreate?: boolean } = {},
): Promise<readonly [current: string, ...older: string[]]> {
  if (source.kind === 'value') return secretsIn(source.value, 'The secret key');
  const { file } = source;
  if (mayCreate) await createUnlessThere(file);
  else if (!(await exists(file))) throw new Error(`There is no file ${file}.`);
  if (((await stat(file)).mode & 0o007) !== 0) {
    throw new Error(`All users of this machine can read the secret key in ${file}: run chmod 600 on it.`);
  }
  return secretsIn(await readFile(file, 'utf8'), `The secret key in ${file}`);
}

function secretsIn(text: string, what: string): readonly [string, ...string[]] {
  const [current, ...older] = text.split(/\s+/).filter(secret => secret !== '');
  if (current === undefined) throw new Error(`${what} is empty.`);
  if ([current, ...older].every(secret => secret.length >= SHORTEST)) return [current, ...older];
  throw new Error(
    older.length === 0
      ? `${what} needs at least ${SHORTEST} characters.`
      : `${what} holds blanks, which separate several keys of at least ${SHORTEST} characters: write a single key without blanks.`,
  );
}

/**
 * Creates a file of mode 600 with 256 random bits. It is written under a temporary name and linked to its final one. If
 * two processes do this at once, one wins and both read the same, complete key.
 */
async function createUnlessThere(file: string): Promise<void> {
  if (await exists(file)) return;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    // A power cut could otherwise lose the key, and with it all sealed values.
    await handle.sync();
    await link(draft, file).catch(unlessThere);
  } finally {
    await handle.close();
    await rm(draft);
  }
  const folder = await open(dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
}

function unlessThere(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    error => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
