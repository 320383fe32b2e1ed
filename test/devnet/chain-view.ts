import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  type Log,
  numberToHex,
  type PublicClient,
} from 'viem';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';

/** One call of a transaction in the node's callTracer. */
export interface Frame {
  type: string;
  from: Address;
  to?: Address;
  value?: Hex;
  input: Hex;
  output?: Hex;
  error?: string;
  calls?: Frame[];
}

export interface SeenTransaction {
  hash: Hex;
  typeHex: Hex | null;
  from: Address;
  to: Address | null;
  input: Hex;
  isSuccess: boolean;
  contractAddress: Address | null;
  logs: Log[];
  trace: Frame;
}

/** Everything on a chain, read over JSON-RPC as a client would. */
export interface ChainView {
  client: PublicClient;
  chain: EmbeddedChain;
  blocks: { number: bigint; timestamp: bigint; transactions: number }[];
  transactions: SeenTransaction[];
  /** Address of a sample contract, by its listed name. */
  contract(name: string): Address;
}

export async function viewChain(chain: EmbeddedChain): Promise<ChainView> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { batch: true }) });
  const height = Number(await client.getBlockNumber());
  const numbers = Array.from({ length: height }, (_, index) => BigInt(index + 1));
  const blocks = await Promise.all(
    numbers.map(blockNumber => client.getBlock({ blockNumber, includeTransactions: true })),
  );
  const rpc = httpRpc(chain.rpcUrl);
  const transactions = await Promise.all(
    blocks.flatMap(block =>
      block.transactions.map(async ({ hash, typeHex, from, to, input }) => {
        const [receipt, trace] = await Promise.all([
          client.getTransactionReceipt({ hash }),
          rpc.call('debug_traceTransaction', hash, { tracer: 'callTracer' }),
        ]);
        const { status, contractAddress = null, logs } = receipt;
        if (!isFrame(trace)) throw new Error(`no trace of ${hash} in block ${numberToHex(block.number)}`);
        const isSuccess = status === 'success';
        return { hash, typeHex, from, to, input, isSuccess, contractAddress, logs, trace };
      }),
    ),
  );
  return {
    client,
    chain,
    blocks: blocks.map(block => ({
      number: block.number,
      timestamp: block.timestamp,
      transactions: block.transactions.length,
    })),
    transactions,
    contract: name => {
      const found = chain.contracts.find(contract => contract.name === name);
      if (found === undefined) throw new Error(`no contract is called ${name}`);
      return found.address;
    },
  };
}

/** The call itself, and all calls below it. */
export function framesOf(frame: Frame): Frame[] {
  return [frame, ...(frame.calls ?? []).flatMap(framesOf)];
}

function isFrame(value: unknown): value is Frame {
  return typeof value === 'object' && value !== null && 'type' in value && 'input' in value;
}
