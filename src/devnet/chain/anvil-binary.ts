import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const PACKAGE = '@foundry-rs/anvil-linux-amd64';

/** No anvil on this machine; the message says how to get one. */
export class AnvilMissing extends Error {
  constructor() {
    super(
      'The embedded chains need anvil, which was not found. ' +
        `On Linux x64 "npm install" brings it (optional dependency ${PACKAGE}); elsewhere install Foundry ` +
        '(https://getfoundry.sh), then put anvil on PATH or set ANVIL_BIN to its full path.',
    );
    this.name = 'AnvilMissing';
  }
}

/**
 * The anvil to run: the npm package's binary, else `anvil` (a configured path), else the `command` on PATH.
 * @throws AnvilMissing when none of them can be run.
 */
export function findAnvil({
  anvil,
  packageName = PACKAGE,
  command = 'anvil',
}: {
  anvil?: string | undefined;
  packageName?: string;
  command?: string;
} = {}): string {
  const found = [fromPackage(packageName), anvil].find(file => file !== undefined && isExecutable(file));
  if (found !== undefined) return found;
  // The operating system searches PATH, so that this file need not read the environment.
  if (spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined) return command;
  throw new AnvilMissing();
}

function fromPackage(packageName: string): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    return join(dirname(manifest), 'bin', 'anvil');
  } catch {
    // An optional dependency: absent wherever no binary is published for the platform.
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
