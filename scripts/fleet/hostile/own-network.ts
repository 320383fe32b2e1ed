import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Environment variable of a program that `runInOwnNetwork` has started. */
const MARK = 'TOLLGATE_FLEET_NETWORK';
/** Exit code when the system gives the program no network of its own. */
const IMPOSSIBLE = 2;
/** Every IPv4 address leads to this machine, so that canaries also hear what is meant for others. */
const PREPARE = 'ip link set lo up && ip route add local 0.0.0.0/0 dev lo && exec "$0" "$@"';
/** Root needs no user of its own. Others keep the rights that they have in the new network. */
const AS_USER = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** True in a program that has a network of its own. */
export function isInOwnNetwork(): boolean {
  return process.env[MARK] === 'own';
}

/**
 * Runs this program again with the same arguments, in a network that has only a loopback interface. Resolves with its
 * exit code, which is 2 when the system gives it no such network. Needs Linux and Debian's `iproute2`.
 */
export async function runInOwnNetwork(): Promise<number> {
  const enter = [...AS_USER, '--net', 'sh', '-c', PREPARE];
  const { error, stderr, status } = spawnSync('unshare', [...enter, 'true'], { encoding: 'utf8' });
  if (status !== 0) {
    console.error(`the system gives no network of its own (apt-get install iproute2): ${error ?? stderr}`);
    return IMPOSSIBLE;
  }
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, [MARK]: 'own' };
  const child = spawn('unshare', [...enter, ...program], { stdio: 'inherit', env });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
