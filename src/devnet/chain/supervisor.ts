import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * Program that runs the engine of one chain and never outlives its parent. When standard input closes, because the
 * parent closed it or was killed, it kills the engine, removes the chain's folder and ends. Argument: one JSON object,
 * `SupervisorOrder`. Output: one JSON object per line, `SupervisorReport`.
 */
export interface SupervisorOrder {
  binary: string;
  args: string[];
  /** Removed when the engine has ended. */
  chainFolder: string;
  /** Also removed when the parent vanished without sending `stop`. */
  runFolder?: string;
}

export type SupervisorReport =
  | { event: 'listening'; pid: number; port: number }
  | { event: 'ended'; why: string };

const order: SupervisorOrder = JSON.parse(process.argv[2] ?? '');
const engine = spawn(order.binary, order.args, {
  stdio: ['ignore', 'pipe', 'pipe'],
  cwd: order.chainFolder,
  windowsHide: true,
});
let wasReported = false;
let isLetGo = false;
let lastWords = '';

// The parent may be gone. A failed report must not prevent the clean-up.
process.stdout.on('error', () => {});

createInterface({ input: engine.stdout }).on('line', line => {
  const port = /^Listening on \S+:(\d+)$/.exec(line)?.[1];
  if (port !== undefined) report({ event: 'listening', pid: engine.pid ?? 0, port: Number(port) });
});
engine.stderr.on('data', (text: Buffer) => {
  lastWords = (lastWords + text).slice(-2_000);
});
engine.on('error', error => end(error.message));
engine.on('exit', (code, signal) => end(`${signal ?? `exit code ${code}`} ${lastWords.trim()}`.trim()));

process.stdin.on('data', (text: Buffer) => {
  wasReported ||= text.includes('stop');
});
process.stdin.on('close', letGo);
process.on('SIGTERM', letGo);
process.on('SIGINT', letGo);

function letGo(): void {
  isLetGo = true;
  // The chain's state is deleted next, so a graceful end is not needed.
  if (!engine.kill('SIGKILL')) end('not running');
}

function end(why: string): void {
  if (!isLetGo) report({ event: 'ended', why });
  const isOrphan = isLetGo && !wasReported;
  const folders = [
    order.chainFolder,
    ...(isOrphan && order.runFolder !== undefined ? [order.runFolder] : []),
  ];
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  process.exit(isLetGo ? 0 : 1);
}

function report(what: SupervisorReport): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
