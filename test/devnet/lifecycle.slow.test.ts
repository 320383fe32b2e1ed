import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { until } from '../lab/until.ts';

let folder: string;
let devnet: Devnet | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-devnet-'));
});

afterEach(async () => {
  await devnet?.stop();
  devnet = undefined;
  await rm(folder, { recursive: true, force: true });
});

test('stop leaves no process and no folder of a chain', async () => {
  const { chains, filled, stop } = await start({ chains: 2 });
  await filled;
  const before = await readdir(folder);

  await stop();

  expect(before).toEqual(['chain-31337', 'chain-31338']);
  expect(chains.flatMap(({ pids }) => [pids.supervisor, pids.engine]).filter(isRunning)).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test('stop during the fill rejects everything that waits for the fill, with the reason', async () => {
  const { filled, stop, progress } = await start({ blocks: 5_000 });

  await stop();

  await expect(filled).rejects.toThrow();
  expect(progress()).toEqual([{ chainId: 31337, done: expect.any(Number), total: 5_000 }]);
  expect(progress()[0]?.done).toBeLessThan(5_000);
});

test('no process and no folder outlives a killed parent', async () => {
  const script = fileURLToPath(new URL('./start-and-wait.ts', import.meta.url));
  const parent = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pids: number[] = JSON.parse(line);
  const before = pids.filter(isRunning);

  parent.kill('SIGKILL');

  expect(before).toHaveLength(4);
  await eventually(() => !pids.some(isRunning) && !existsSync(folder));
  expect(pids.filter(isRunning)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});

test.for(CHAIN_KINDS)(
  'a chain of $engine with $hardfork that ends by itself is reported and cleaned up',
  async kind => {
    const { chains, failed } = await start(kind);
    const engine = chains[0]?.pids.engine ?? 0;

    process.kill(engine, 'SIGKILL');

    expect((await failed).message).toBe('the embedded chain 31337 ended unexpectedly: SIGKILL');
    expect(await readdir(folder)).toEqual([]);
  },
);

test('a chain whose supervisor cannot be started is reported and leaves no folder', async () => {
  const { execPath } = process;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  process.execPath = '/does/not/exist';

  await expect(start({})).rejects.toMatchObject({
    message: 'the embedded chain 31337 did not start',
    cause: { message: expect.stringContaining('ENOENT') },
  });
  expect(await readdir(folder)).toEqual([]);
});

test('a chain whose supervisor is killed is reported and stopped', async () => {
  const { chains, failed } = await start({});
  const { supervisor = 0, engine = 0 } = chains[0]?.pids ?? {};

  process.kill(supervisor, 'SIGKILL');

  expect((await failed).message).toContain('supervisor ended with SIGKILL');
  await eventually(() => !isRunning(engine));
  expect(isRunning(engine)).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});

test.for(CHAIN_KINDS)(
  'after the fill the trickle keeps adding blocks to $engine with $hardfork until stop, even over a reorganisation',
  async kind => {
    const { chains, filled, stop } = await start({ trickleMs: 30, ...kind });
    const rpc = httpRpc(chains[0]?.rpcUrl ?? '');
    const height = async (): Promise<number> => Number(await rpc.call('eth_blockNumber'));
    await filled;

    await eventually(async () => (await height()) >= 63);
    await rpc.call('anvil_reorg', 2, []);
    await rpc.call('evm_mine');
    const afterwards = await height();
    await eventually(async () => (await height()) >= afterwards + 3);

    const latest = await rpc.call('eth_getBlockByNumber', 'latest', false);
    expect(latest).toHaveProperty('transactions', expect.arrayContaining([expect.any(String)]));
    await stop();
    await expect(height()).rejects.toThrow('ECONNREFUSED');
  },
);

test.for(CHAIN_KINDS)(
  'a transfer with a gas price from $engine with $hardfork is mined, however the base fee changes',
  async kind => {
    const { chains, filled, stop } = await start({ trickleMs: 200, ...kind });
    const rpc = httpRpc(chains[0]?.rpcUrl ?? '');
    await filled;
    const [from, to] = deriveAccounts().addresses.slice(-2);

    for (let count = 0; count < 8; count += 1) {
      const hash = await rpc.call('eth_sendTransaction', { from, to, value: '0x1' });
      await eventually(async () => (await rpc.call('eth_getTransactionReceipt', hash)) !== null);
      expect(await rpc.call('eth_getTransactionReceipt', hash)).toHaveProperty('status', '0x1');
    }
    await stop();
  },
);

async function start(options: Partial<DevnetOptions>): Promise<Devnet> {
  devnet = await startDevnet({
    folder,
    chains: 1,
    blocks: 60,
    trickleMs: 0,
    seed: 1,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    ...options,
  });
  return devnet;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  expect(await until(async () => isTrue(), Boolean)).toBe(true);
}
