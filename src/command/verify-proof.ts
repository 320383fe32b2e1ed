import {
  type Address,
  getAddress,
  type Hex,
  hexToBigInt,
  isHash,
  numberToHex,
  parseTransaction,
  size,
} from 'viem';
import { isCoinLog, TRANSFER } from '#evm/coin-logs.ts';
import { InvalidProof, type ProvenInclusion } from '#evm/proofs/inclusion.ts';
import { checkedProofFile } from '#evm/proofs/proof-file.ts';
import { signedSender } from '#evm/proofs/signed-sender.ts';
import { systemClock } from '#lib/clock.ts';
import { Refused, readArguments, readInput, UsageError } from '#lib/command-line.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';

const USAGE = `Usage: tollgate verify-proof FILE [--block-hash HASH | --rpc URL]

  Checks a proof of a transaction (/explorer/transactions/{hash}/proof, /api/v1/transactions/{id}/proof) and prints what it
  shows. A proof leads to the hash of a block. It is verified when another source has that block in the chain: with
  neither option nothing says so, and the exit code is 3.

  FILE                     the proof; - for standard input
  --block-hash HASH        hash of the block, from a source that you believe
  --rpc URL                node of your own, whose chain must have the block
  --help                   print this
`;

/** Exit code for a proof whose block was compared with nothing. */
const UNCOMPARED = 3;
const TIMEOUT_MS = 30_000;

type ProvenFile = ReturnType<typeof checkedProofFile>;

/** Checks the proof of a transaction. @throws UsageError, Refused */
export async function runVerifyProof(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    options: {
      'block-hash': { type: 'string' },
      rpc: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const { 'block-hash': hash, rpc } = values;
  const [file, ...others] = positionals;
  if (file === undefined) throw new UsageError('FILE is missing');
  if (others.length > 0) throw new UsageError('only one FILE can be checked');
  if (hash !== undefined && !isHash(hash))
    throw new UsageError('--block-hash: must be 0x followed by 64 hexadecimal digits');
  const proof = await readProof(file);
  process.stdout.write(await linesOf(proof));
  if (hash !== undefined) {
    if (hash.toLowerCase() !== proof.blockHash)
      throw new Refused(`The proof is of block ${proof.blockHash} and not of ${hash}.`);
    process.stdout.write('verified: the block has the hash that you gave\n');
  }
  if (rpc !== undefined) process.stdout.write(`verified: ${await depthInChain(proof, rpc)}\n`);
  if (hash !== undefined || rpc !== undefined) return;
  process.stdout.write(`consistent with block ${proof.blockHash}, which you must compare yourself\n`);
  process.exitCode = UNCOMPARED;
}

async function readProof(file: string): Promise<ProvenFile> {
  const content = await readInput(file);
  try {
    return checkedProofFile(JSON.parse(content));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refused(`${file} is not JSON.`, { cause: error });
    if (error instanceof InvalidProof)
      throw new Refused(`The proof proves nothing: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Text for a block that a node has in its chain. @throws Refused when it has another one there, or cannot say */
async function depthInChain({ chainId, blockHash, blockNumber }: ProvenFile, url: string): Promise<string> {
  const client = createChainClient({
    id: chainId,
    rpcUrls: [url],
    timeoutMs: TIMEOUT_MS,
    clock: systemClock,
    log: silentLogger(),
  });
  try {
    await client.verify();
    const numbered = { method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] } as const;
    const [block, latest] = await Promise.all([
      client.request({ ...numbered, params: [...numbered.params] }),
      client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
    ]);
    const depth = BigInt(latest?.number ?? 0) - blockNumber;
    if (block?.hash?.toLowerCase() === blockHash)
      return `the node has the block in its chain, ${depth < 0n ? 0n : depth} blocks deep`;
  } catch (cause) {
    throw new Refused('The node does not say whether it has the block.', { cause });
  }
  throw new Refused(`The node does not have block ${blockHash} at height ${blockNumber}.`);
}

/** Lines with all that a proof shows. */
async function linesOf(proof: ProvenFile): Promise<string> {
  const { chainId, blockNumber, blockHash, timeMs, transactionHash, encodedTransaction, receipt } = proof;
  const outcome = receipt.isSuccess === null ? 'executed' : receipt.isSuccess ? 'succeeded' : 'failed';
  const lines = [
    `chain ${chainId}, block ${blockNumber} of ${new Date(timeMs).toISOString()}: ${blockHash}`,
    `transaction ${transactionHash}: ${outcome}`,
    ...(await callLines(encodedTransaction)),
    ...receipt.logs.map(logLine),
  ];
  return lines.map(line => `${line}\n`).join('');
}

/** Sender, receiver and coins of a transaction. None for a type of a rollup, which has no signature. */
async function callLines(encoded: Hex): Promise<string[]> {
  const from = await signedSender(encoded);
  if (from === undefined) return [];
  const { to, value = 0n } = parseTransaction(encoded);
  const receiver = to === null || to === undefined ? 'to a new contract' : `to ${getAddress(to)}`;
  return [`  from ${from} ${receiver} with ${value} wei`];
}

function logLine({ address, topics, data }: ProvenInclusion['receipt']['logs'][number]): string {
  const [event, from, to, ...others] = topics;
  if (
    event === TRANSFER &&
    from !== undefined &&
    to !== undefined &&
    others.length === 0 &&
    size(data) === 32
  ) {
    const what = isCoinLog({ address }) ? 'wei' : `units of token ${getAddress(address)}`;
    return `  transfer of ${hexToBigInt(data)} ${what} from ${accountOf(from)} to ${accountOf(to)}`;
  }
  return `  log of ${getAddress(address)}: ${[...topics, data].join(' ')}`;
}

function accountOf(topic: Hex): Address {
  return getAddress(`0x${topic.slice(-40)}`);
}
