#!/usr/bin/env node
// Launcher of the program. Its syntax suits old versions of Node, so that these end with a clear message.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST = 24;
const PARENT_EVERY_MS = 500;

const folder = dirname(fileURLToPath(import.meta.url));
const sources = join(folder, 'command', 'tollgate.ts');
// A checkout runs its sources. A package has them compiled, because Node strips no types below node_modules.
const entry = existsSync(sources) ? sources : join(folder, '..', 'dist', 'src', 'command', 'tollgate.js');

if (Number.parseInt(process.versions.node, 10) >= OLDEST) await import(pathToFileURL(entry).href);
else {
  const node = installedNode();
  if (node !== undefined) runBy(node);
  else {
    process.stderr.write(`tollgate needs Node ${OLDEST} or newer; this is ${process.version}.\n`);
    process.exitCode = 1;
  }
}

/** Path of the Node that is installed as a package; undefined when none is published for this system. */
function installedNode() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const file = join('bin', process.platform === 'win32' ? 'node.exe' : 'node');
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${system}-${process.arch}/package.json`);
    return [join(dirname(manifest), file)].find(existsSync);
  } catch {
    return undefined;
  }
}

/** Runs the program with another Node, passes signals on, and exits like it. */
function runBy(node) {
  // As in the image: the allocator of glibc otherwise keeps freed memory for each thread.
  // With this id the program ends by itself when the launcher is killed and cannot pass on a signal.
  const env = Object.assign({ MALLOC_ARENA_MAX: '2' }, process.env, {
    TOLLGATE_LAUNCHER: String(process.pid),
  });
  const child = spawn(node, [entry, ...process.argv.slice(2)], { stdio: 'inherit', env });
  // npm passes a signal to its shell only, which ends without passing it on. Other shells may end before the program.
  const isBelowNpm = ['start', 'dev', 'npx'].includes(process.env.npm_lifecycle_event);
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (isBelowNpm && process.ppid !== parent) stop();
  }, PARENT_EVERY_MS);
  process.on('SIGTERM', stop);
  // On Windows a signal kills at once, and Ctrl+C reaches the child directly.
  process.on('SIGINT', process.platform === 'win32' ? () => undefined : stop);
  child.on('error', error => {
    clearInterval(timer);
    process.stderr.write(`${node} cannot be run: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    clearInterval(timer);
    process.exitCode = code ?? 128 + constants.signals[signal];
  });

  /** Sends SIGTERM once per signal, or once for the end of the parent: a second one would kill a draining program. */
  function stop() {
    clearInterval(timer);
    // Ctrl+C becomes a SIGTERM, too: it also reaches the child directly, and a second SIGINT would kill it.
    child.kill('SIGTERM');
  }
}
