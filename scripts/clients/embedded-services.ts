import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DescribedServices } from './workspace.ts';

/** Configuration of the embedded default on free ports, with chains that fill quickly. */
const CONFIG = `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
devnet: { chains: 1, blocks: 60, seed: 1 }
`;

/** Log line that announces readiness. */
interface ReadyEntry {
  readonly msg: string;
  readonly url: string;
  readonly payments: { readonly url: string; readonly key: string };
}

/**
 * Starts the embedded default as a separate process and waits until it is ready. @throws Error when it ends before that
 */
export async function startEmbeddedServices(): Promise<DescribedServices & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-clients-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, 'tollgate.yaml');
  await writeFile(config, CONFIG);
  const child = spawn(process.execPath, ['src/main.ts', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  opened.defer(() => {
    child.kill('SIGTERM');
    return ended;
  });
  const ready = new Promise<ReadyEntry>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const entry: ReadyEntry = JSON.parse(line);
      if (entry.msg.startsWith('ready')) resolve(entry);
    });
    void ended.then(() => reject(new Error('the embedded default ended before it was ready')));
  });
  const { url, payments } = await ready;
  const running = opened.move();
  return {
    data: url,
    payments: payments.url,
    key: payments.key,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
