import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startChainProcess } from '../../src/devnet/chain/chain-process.ts';
import { findEngine } from '../../src/devnet/chain/engine.ts';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';

/** A chain with a replayed history, which mines on request. `await using` ends it. */
export interface RecordedChain extends AsyncDisposable {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly rpc: Rpc;
  readonly pids: { supervisor: number; engine: number };
}

interface Recording {
  readonly chainId: number;
  /** Seconds. */
  readonly genesisTime: number;
  /** All calls that changed the chain, in order. */
  readonly calls: readonly (readonly [method: string, ...params: unknown[]])[];
}

/** Small enough for the node to accept a batch without interleaving its calls. */
const CALLS_A_BATCH = 24;

/** Starts a chain and replays a recording, which produces the same blocks again. */
export async function startRecordedChain(file: URL): Promise<RecordedChain> {
  const recording: Recording = JSON.parse(gunzipSync(readFileSync(file)).toString());
  const { chainId, genesisTime } = recording;
  const folder = await mkdtemp(join(tmpdir(), 'recorded-chain-'));
  const { rpcUrl, pids, stop } = await startChainProcess({
    engine: findEngine(),
    chainId,
    folder,
    genesisTime,
    isRunFolderDisposable: true,
  });
  const rpc = httpRpc(rpcUrl);
  for (const batch of batches(recording)) await rpc.batch(batch);
  return {
    chainId,
    rpcUrl,
    rpc,
    pids,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Batches of calls. Each block is mined in its own request, because the calls of a batch may run in any order. */
function* batches({ calls }: Recording) {
  let batch: { method: string; params: readonly unknown[] }[] = [];
  for (const [method, ...params] of calls) {
    if (batch.length === CALLS_A_BATCH || (method === 'evm_mine' && batch.length > 0)) {
      yield batch;
      batch = [];
    }
    batch.push({ method, params });
    if (method !== 'evm_mine') continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
