import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#test/lab/loopback-server.ts';
import { systemClock } from '../../../src/lib/clock.ts';

/** An nginx with one worker that caches the answers of another server. */
export interface CachingNginx extends AsyncDisposable {
  readonly url: string;
}

const STARTS_WITHIN_MS = 5_000;

/** Starts nginx in front of a server; undefined when it is not installed. */
export async function startNginx(upstream: string): Promise<CachingNginx | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration({ folder, port, upstream }));
  const child = spawn('nginx', ['-e', join(folder, 'error.log'), '-c', file], { stdio: 'ignore' });
  const ended = once(child, 'exit').catch((error: unknown) => error);
  const url = `http://127.0.0.1:${port}`;
  if (!(await answersSoon(url, ended))) {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration({
  folder,
  port,
  upstream,
}: {
  folder: string;
  port: number;
  upstream: string;
}): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n  ');
  return `
daemon off;
user ${userInfo().username};
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary}
  keepalive_requests 1000000000;
  proxy_cache_path ${folder}/cache keys_zone=answers:10m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream};
      proxy_cache answers;
      proxy_cache_valid 200 1d;
    }
  }
}
`;
}

async function answersSoon(url: string, ended: Promise<unknown>): Promise<boolean> {
  let isGone = false;
  void ended.then(() => {
    isGone = true;
  });
  const until = systemClock.now() + STARTS_WITHIN_MS;
  while (!isGone && systemClock.now() < until) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer !== undefined) return true;
    await systemClock.sleep(50);
  }
  return false;
}
