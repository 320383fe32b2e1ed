import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach } from 'vitest';

/** Settings that give every listener a free port. */
export const ANY_PORTS = `data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }`;

/** Settings of the only chain; more of its settings can be appended. */
export const ETHEREUM = `chains:
  - id: 1
    name: Ethereum
    native: { symbol: ETH, decimals: 18 }`;

/** A line of the program's log. */
export interface Entry {
  readonly msg?: string;
  readonly url?: string;
  readonly folder?: string;
  readonly level?: number;
  readonly path?: string;
  readonly status?: number;
  readonly worker?: string;
  readonly payments?: {
    readonly url: string;
    readonly docs: string;
    readonly dashboard?: string;
    readonly key?: string;
    readonly create?: string;
  };
  readonly nodes?: readonly { readonly chainId: number; readonly url: string }[];
}

/** The program under test, with its log as it comes. */
export interface Program {
  readonly child: ChildProcess;
  /** The exit code, once the process has ended and all of its output was read. */
  readonly exited: Promise<number | null>;
  readonly log: readonly Entry[];
  /** Folder of the configuration and of the relative paths in it. */
  readonly folder: string;
  errors(): string;
  /** The first matching line of the log, once it is written. */
  entry(isRight: (entry: Entry) => boolean): Promise<Entry>;
  /** The log line of the first listener. */
  listening(): Promise<Entry>;
  ready(): Promise<Entry>;
}

interface Hooks {
  readonly before?: (run: () => Promise<void>) => void;
  readonly after?: (run: () => Promise<void>) => void;
}

/**
 * Starts the program in tests of the current suite; each test has its own folder. With `beforeAll` and `afterAll` as
 * hooks, the suite has one folder and its program runs until the last test.
 */
export function programs({ before = beforeEach, after = afterEach }: Hooks = {}) {
  let folder = '';
  const running: ChildProcess[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-e2e-'));
  });

  after(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    }
    await rm(folder, { recursive: true, force: true });
  });

  function start(config: string, ...more: string[]) {
    return startBy([process.execPath, 'src/main.ts'], config, more);
  }

  /** The program with a limit of open files. */
  function startWithin(descriptors: number, config: string) {
    const limited = `ulimit -n ${descriptors}; exec "$0" "$@"`;
    return startBy(['sh', '-c', limited, process.execPath, 'src/main.ts'], config, []);
  }

  /** The program started by npm; `child` is npm. */
  function startByNpm(config: string) {
    return startBy(['npm', 'start', '--silent', '--'], config, []);
  }

  async function startBy(
    [command = '', ...first]: string[],
    config: string,
    more: readonly string[],
  ): Promise<Program> {
    const file = join(folder, 'tollgate.yaml');
    await writeFile(file, config);
    const child = spawn(command, [...first, '--config', file, ...more], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    const log: Entry[] = [];
    const waiting: { has: (entry: Entry) => boolean; found: (entry: Entry) => void }[] = [];
    createInterface({ input: child.stdout }).on('line', line => {
      const entry: Entry = JSON.parse(line);
      log.push(entry);
      for (const { has, found } of waiting) if (has(entry)) found(entry);
    });
    let errors = '';
    child.stderr.on('data', chunk => {
      errors += chunk;
    });
    const exited = new Promise<number | null>(resolve => child.once('close', resolve));
    const entry = (has: (entry: Entry) => boolean) =>
      new Promise<Entry>((resolve, reject) => {
        const before = log.find(has);
        if (before !== undefined) resolve(before);
        waiting.push({ has, found: resolve });
        void exited.then(code => reject(new Error(`the process ended with ${code}: ${errors}`)));
      });
    return {
      child,
      exited,
      log,
      folder,
      errors: () => errors,
      entry,
      listening: () => entry(({ msg }) => msg === 'listening'),
      ready: () => entry(({ msg }) => msg?.startsWith('ready') === true),
    };
  }

  return { start, startByNpm, startWithin };
}
