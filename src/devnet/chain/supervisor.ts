import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * A program of its own: runs the engine of one chain on a leash. The leash is this process's standard input: when it
 * closes, because the parent let go or was killed, the engine is killed, the chain's folder removed and this process ends.
 * Arguments: one JSON object, `SupervisorOrder`. Output: one JSON object a line, `SupervisorReport`.
 */
export interface SupervisorOrder {
  binary: string;
  args: string[];
  /** Removed whenever the engine has ended. */
  chainFolder: string;
  /** Removed as well when the parent vanished without saying `stop`. */
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
let wasTold = false;
let isLetGo = false;
let lastWords = '';

// Nobody may be left to read the reports; that is no reason to fail before cleaning up.
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
  wasTold ||= text.includes('stop');
});
process.stdin.on('close', letGo);
process.on('SIGTERM', letGo);
process.on('SIGINT', letGo);

function letGo(): void {
  isLetGo = true;
  // Its state is about to be deleted, so there is nothing to end gently.
  if (!engine.kill('SIGKILL')) end('not running');
}

function end(why: string): void {
  if (!isLetGo) report({ event: 'ended', why });
  const isOrphan = isLetGo && !wasTold;
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
