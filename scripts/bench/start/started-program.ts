import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** A program to start for a measurement. */
export interface StartedProgram {
  readonly command: readonly string[];
  /** Origin that it listens on. */
  readonly url: string;
  /** Path of a page. */
  readonly page: string;
  /** Origin of its metrics; undefined for a program without any, which counts as ready once it answers. */
  readonly adminUrl: string | undefined;
}

/** Times from the command, and resources that the process has used when it is ready. */
export interface Start {
  readonly healthS: number;
  readonly pageS: number;
  readonly readyS: number;
  /** NaN for a program without metrics. */
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

const LOOK_EVERY_MS = 5;
const READY_WITHIN_MS = 60_000;
const GONE_WITHIN_MS = 20_000;

/**
 * Starts the program once and ends it.
 * @throws Error when another server is there already, or when it does not become ready or end in time
 */
export async function startOnce(program: StartedProgram, variables: NodeJS.ProcessEnv): Promise<Start> {
  const { command, url, page, adminUrl } = program;
  const [file = '', ...args] = command;
  if ((await healthOf(url)) !== undefined) throw new Error(`${url} is served by another program`);
  const startedAt = performance.now();
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...variables },
  });
  const exited = once(child, 'exit');
  const secondsTo = async (address: string) => {
    await untilAnswer(address);
    return (performance.now() - startedAt) / 1_000;
  };
  try {
    const [healthS, pageS, readyS] = await Promise.all([
      secondsTo(`${url}/healthz`),
      secondsTo(url + page),
      secondsTo(`${url}/readyz`),
    ]);
    const metrics = adminUrl === undefined ? '' : await (await untilAnswer(`${adminUrl}/metrics`)).text();
    return {
      healthS,
      pageS,
      readyS,
      residentBytes: valueIn(metrics, 'process_resident_memory_bytes'),
      cpuSeconds: valueIn(metrics, 'process_cpu_seconds_total'),
    };
  } finally {
    child.kill('SIGTERM');
    await exited;
    await untilGone(url); // npm ends before the server that it has started
  }
}

async function untilAnswer(address: string): Promise<Response> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(address).catch(() => undefined);
    if (answer?.status === 200) return answer;
    await answer?.arrayBuffer();
    await setTimeout(LOOK_EVERY_MS);
  }
  throw new Error(`${address} did not answer with 200 in time`);
}

async function untilGone(url: string): Promise<void> {
  const deadline = performance.now() + GONE_WITHIN_MS;
  while (performance.now() < deadline) {
    const status = await healthOf(url);
    if (status === undefined) return;
    await setTimeout(LOOK_EVERY_MS * 10);
  }
  throw new Error(`${url} is still served`);
}

/** Status of the health check; undefined when nothing listens. */
async function healthOf(url: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/healthz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status;
}

function valueIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
}
