import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PATIENCE_MS } from '../lab/until.ts';

/** Exit code and output of a program; the code is -1 after a signal. */
export interface ScriptResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program of `scripts/` as a user would, in the folder `cwd` when one is named, with more variables in `env`. */
export function script(
  name: string,
  { cwd, env = {} }: { cwd?: () => string; env?: Readonly<Record<string, string>> } = {},
): (...args: string[]) => Promise<ScriptResult> {
  const program = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  return (...args) => {
    const { promise, resolve } = Promise.withResolvers<ScriptResult>();
    const options = {
      timeout: PATIENCE_MS,
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd: cwd() }),
    };
    execFile(process.execPath, [program, ...args], options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
    return promise;
  };
}
