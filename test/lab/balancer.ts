import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './loopback-server.ts';
import { until } from './until.ts';

export type BalancerName = keyof typeof BALANCERS;

/** Documented file of each balancer, and its arguments for a file and a folder for what it writes. */
const BALANCERS = {
  haproxy: { documented: 'docs/haproxy.cfg', arguments: (file: string) => ['-W', '-f', file] },
  nginx: {
    documented: 'docs/nginx.conf',
    arguments: (file: string, folder: string) => {
      const pid = `pid ${folder}/pid; error_log stderr; daemon off; master_process on;`;
      return ['-p', folder, '-c', file, '-g', pid];
    },
  },
} as const;

/** A load balancer with the documented file, of which only addresses and ports are replaced. */
export interface Balancer extends AsyncDisposable {
  /** Origin of each service through the balancer. */
  readonly dataUrl: string;
  readonly paymentsUrl: string;
}

/** Ports of the processes behind a balancer, of the first and the second machine. */
export interface BalancedPorts {
  readonly data: readonly [number, number];
  readonly payments: readonly [number, number];
}

/** Starts Debian's haproxy or nginx. Resolves when it listens. */
export async function startBalancer(name: BalancerName, ports: BalancedPorts): Promise<Balancer> {
  const balancer = BALANCERS[name];
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const [data, payments] = [await freePort(), await freePort()];
  const places: readonly (readonly [RegExp, string])[] = [
    [/\b10\.0\.0\.11:3000\b/, `127.0.0.1:${ports.data[0]}`],
    [/\b10\.0\.0\.12:3000\b/, `127.0.0.1:${ports.data[1]}`],
    [/\b10\.0\.0\.11:3001\b/, `127.0.0.1:${ports.payments[0]}`],
    [/\b10\.0\.0\.12:3001\b/, `127.0.0.1:${ports.payments[1]}`],
    [/(?<=^ *(?:bind|listen) ):?8000\b/m, `127.0.0.1:${data}`],
    [/(?<=^ *(?:bind|listen) ):?8001\b/m, `127.0.0.1:${payments}`],
  ];
  const documented = await readFile(balancer.documented, 'utf8');
  const file = join(folder, 'balancer.conf');
  await writeFile(
    file,
    places.reduce((text, [place, own]) => replaced(text, place, own), documented),
  );
  const child = spawn(name, balancer.arguments(file, folder), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', chunk => {
    said += chunk;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  const listening = until(
    () =>
      fetch(`http://127.0.0.1:${data}/healthz`).then(
        answer => answer.body?.cancel().then(() => true) ?? true,
        () => false,
      ),
    Boolean,
  );
  await Promise.race([
    listening,
    ended.then(() => {
      throw new Error(`${name} ended: ${said}`);
    }),
  ]);
  return {
    dataUrl: `http://127.0.0.1:${data}`,
    paymentsUrl: `http://127.0.0.1:${payments}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @throws Error when the documented file has no such place, because it has changed */
function replaced(text: string, place: RegExp, own: string): string {
  if (!place.test(text)) throw new Error(`the documented file has no ${place}`);
  return text.replace(place, own);
}
