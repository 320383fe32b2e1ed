import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { test as base } from '../support/served-devnet.ts';

/** Result of `tollgate verify-proof`. */
interface Run {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

const test = base
  .extend('folder', async ({ task }, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), `proof-${task.id}-`));
    onCleanup(() => rm(folder, { recursive: true }));
    return folder;
  })
  /** The proof of a token transfer, as its parsed body. */
  .extend('proof', async ({ api }) => {
    const { body } = await api.get('/explorer/token-transfers?type=ERC-20');
    const [first] = list(record(body).items);
    return record(
      (await api.get(`/explorer/transactions/${text(record(first).transaction_hash)}/proof`)).body,
    );
  })
  /** Writes a proof to a file, and checks it. */
  .extend('verify', ({ folder }) => async (proof: unknown, ...options: string[]): Promise<Run> => {
    const file = join(folder, 'proof.json');
    await writeFile(file, JSON.stringify(proof));
    const { promise, resolve } = Promise.withResolvers<Run>();
    execFile(
      process.execPath,
      ['src/tollgate.js', 'verify-proof', file, ...options],
      { timeout: PATIENCE_MS },
      (error, out, err) => resolve({ code: error === null ? 0 : error.code, out, err }),
    );
    return promise;
  });

test('without another source a proof is only consistent', async ({ proof, verify }) => {
  const { code, out, err } = await verify(proof);

  expect([code, err]).toEqual([3, '']);
  expect(out).toContain(`transaction ${text(proof.transaction_hash)}: succeeded`);
  expect(out).toMatch(/^ {2}from 0x\w{40} to 0x\w{40} with \d+ wei$/m);
  expect(out).toMatch(/^ {2}transfer of \d+ units of token 0x\w{40} from 0x\w{40} to 0x\w{40}$/m);
  expect(out).toMatch(/^consistent with block 0x\w{64}, which you must compare yourself$/m);
  expect(out).not.toContain('verified');
});

test('a proof is verified by the hash of its block, and by a node that has the block', async ({
  proof,
  verify,
  chain,
}) => {
  const byHash = await verify(proof, '--block-hash', text(proof.block_hash));
  const byNode = await verify(proof, '--rpc', chain.rpcUrl);

  expect([byHash.code, byNode.code]).toEqual([0, 0]);
  expect(byHash.out).toMatch(/^verified: the block has the hash that you gave$/m);
  expect(byNode.out).toMatch(/^verified: the node has the block in its chain, \d+ blocks deep$/m);
});

test('another hash, a node of another chain and a changed proof are refused', async ({
  proof,
  verify,
  devnet,
}) => {
  const other = devnet.chains[1]?.rpcUrl ?? '';
  const lie = { ...proof, transaction_index: Number(proof.transaction_index) + 1 };
  const runs = [
    await verify(proof, '--block-hash', `0x${'11'.repeat(32)}`),
    await verify(proof, '--rpc', other),
    await verify({ ...proof, chain_id: devnet.chains[1]?.id }, '--rpc', other),
    await verify(lie, '--block-hash', text(proof.block_hash)),
    await verify({ ...proof, header: 5 }),
    await verify({ ...proof, transaction_hash: proof.block_hash }),
  ];

  for (const { code, out, err } of runs) {
    expect(code).toBe(1);
    expect(out).not.toContain('verified');
    expect(err).toMatch(/^\S.+\.$/m);
  }
});
