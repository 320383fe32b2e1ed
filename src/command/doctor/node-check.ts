import { type Address, type Hex, numberToHex } from 'viem';
import type { ChainConfig } from '#config/config.ts';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { hasCoinLogs } from '#evm/coin-logs.ts';
import { bodyReader } from '#indexer/fetch/block-body.ts';
import { capabilitiesOf } from '#indexer/fetch/node-capabilities.ts';
import { oneByOne } from '#indexer/fetch/unreadable.ts';
import type { Clock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { blockProver } from '#node/block-prover.ts';
import { type ChainClient, createChainClient, nodeAnswered, nullIfAnswered } from '#node/client.ts';
import { WrongChain } from '#node/transport/errors.ts';
import { type ConfigCheck, Fault, type Finding, type HeadAge, headAge } from './check.ts';

/** Shorter than the limit of a check, so that the report names the node's own failure. */
const TIMEOUT_MS = 4_000;
/** Block ranges to try in one request for logs. The first is the range of the payments watcher. */
const LOG_RANGES = [500, 100, 10, 1] as const;
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const UNUSED_ADDRESS: Address = '0x0000000000000000000000000000000000000001';

const TRACES_ADVICE =
  'Internal transactions and traces answer 501; use a node with trace_block or debug_traceBlockByHash to have them.';
const UNSEEN_COINS = 'Payments in the native coin that contracts send, as some exchanges do, are not seen; ';

/** Checks a node of a chain: its chain id, the age of its head, receipts, traces and logs. */
export function nodeCheck(
  chain: ChainConfig,
  {
    url,
    setting,
    findsPayments,
    asksForPayments,
    clock,
  }: {
    url: string;
    setting: string;
    /** True when this process looks for payments through the node. */
    findsPayments: boolean;
    /** True when this process shows payers where to pay. */
    asksForPayments: boolean;
    clock: Clock;
  },
): ConfigCheck {
  const { id, name, backends, traceCoins, prove } = chain;
  return {
    setting,
    subject: `node ${new URL(url).host} of ${name}`,
    advice: 'Correct the address, or start the node.',
    async run() {
      const client = createChainClient({ id, rpcUrls: [url], timeoutMs: TIMEOUT_MS, log: silentLogger() });
      await client.verify().catch(error => {
        throw error instanceof WrongChain
          ? new Fault(
              `serves chain ${error.actual}, but ${id} is configured`,
              "Correct the address, or the chain's id.",
              { cause: error },
            )
          : error;
      });
      const { number, age, logsCoins, capabilities } = await lookAtHead(client, clock);
      const { hasBlockReceipts, tracer } = capabilities;
      const hasIndex = backends.some(({ kind }) => kind === 'index');
      const use = useOfProofs({ hasIndex, provesPayments: findsPayments && prove !== 'off' });
      const proof = use && (await proofOf(client, { number, hasBlockReceipts, use }));
      const deposits = findsPayments || asksForPayments ? await depositRemarks(chain, client) : undefined;
      const blocks = await logRange(client, number);
      const detail = [
        `serves chain ${id}`,
        age.detail,
        ...(proof === undefined ? [] : [proof.detail]),
        hasBlockReceipts ? 'receipts by block' : 'receipts one by one',
        tracer === undefined ? 'no traces' : `traces by ${tracer}`,
        `logs of ${blocks} blocks at once`,
        ...(logsCoins ? ['logs of coins'] : []),
        ...(deposits === undefined ? [] : [deposits.detail]),
      ].join(', ');
      const lacksTraces = tracer === undefined && hasIndex;
      return findingOf(detail, [
        age.advice,
        lacksTraces ? TRACES_ADVICE : undefined,
        proof?.advice,
        deposits?.advice,
        findsPayments && !logsCoins ? coinsAdvice({ tracer, traceCoins }) : undefined,
        blocks < LOG_RANGES[0]
          ? 'Catching up with payments takes more requests than on a node that allows 500 blocks.'
          : undefined,
      ]);
    },
  };
}

/** Advice for a chain without logs of coins; undefined when traces show them. */
function coinsAdvice({
  tracer,
  traceCoins,
}: Pick<ChainConfig, 'traceCoins'> & Pick<Head['capabilities'], 'tracer'>): string | undefined {
  if (tracer === undefined)
    return `${UNSEEN_COINS}use a node with trace_block or debug_traceBlockByHash to see them.`;
  return traceCoins ? undefined : `${UNSEEN_COINS}remove traceCoins: false to see them.`;
}

/**
 * Remarks about the factory of deposit addresses; undefined for a chain that neither has nor needs it (Decisions 395 and
 * 398).
 */
async function depositRemarks(
  { id, testnet, depositAddresses }: ChainConfig,
  client: ChainClient,
): Promise<{ readonly detail: string; readonly advice?: string } | undefined> {
  const isOn = depositAddresses !== undefined;
  // A node that refuses the calls has no factory to check.
  const state = (await checkFactory(client).catch(nullIfAnswered)) ?? { kind: 'absent' };
  if (state.kind === 'absent') {
    const detail = `no deposit factory (tollgate deposit-factory deploy --chain ${id})`;
    if (!isOn || testnet) return isOn ? { detail } : undefined;
    return { detail, advice: 'Checkouts ask for exact amounts until the deposit factory is deployed.' };
  }
  if (state.kind === 'works') {
    const use = isOn ? 'its contracts are not audited' : 'not used';
    return { detail: `deposit factory version ${CURRENT_FACTORY.version} (${use})` };
  }
  return {
    detail: `deposit factory at ${CURRENT_FACTORY.address} ${state.reason}`,
    advice: 'Use no deposit addresses on this chain, or another node if only this one says so.',
  };
}

function findingOf(detail: string, remarks: readonly (string | undefined)[]): Finding {
  const advice = remarks.filter(one => one !== undefined).join(' ');
  return advice === '' ? { state: 'ok', detail } : { state: 'warning', detail, advice };
}

interface Head {
  readonly number: number;
  readonly age: HeadAge;
  /** True when each transfer of coins in it has a log. */
  readonly logsCoins: boolean;
  readonly capabilities: Awaited<ReturnType<typeof capabilitiesOf>>;
}

async function lookAtHead(client: ChainClient, clock: Clock): Promise<Head> {
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  if (block === null || block.number === null || block.hash === null) {
    throw new Fault('has no block', 'Wait until the node has synced.');
  }
  const { hash, timestamp } = block;
  const number = Number(block.number);
  const transactions = block.transactions.map(one => (typeof one === 'string' ? one : one.hash));
  const capabilities = await capabilitiesOf(client, { number, hash, transactions });
  const age = headAge(Number(timestamp) * 1000, clock);
  return { number, age, logsCoins: hasCoinLogs({ ...block }), capabilities };
}

/** The use of blocks that may be proven, as the beginning of a sentence; undefined for none. */
function useOfProofs({ hasIndex, provesPayments }: { hasIndex: boolean; provesPayments: boolean }) {
  if (hasIndex) return provesPayments ? 'Blocks are indexed and payments completed' : 'Blocks are indexed';
  return provesPayments ? 'Payments are completed' : undefined;
}

/**
 * Recomputes the newest block of a node, as an index and payments do. `use` says what they do.
 * @throws Fault when its contents do not fit its hash, and those of blocks near it do
 */
async function proofOf(
  client: ChainClient,
  { number, hasBlockReceipts, use }: { number: number; hasBlockReceipts: boolean; use: string },
): Promise<{ readonly detail: string; readonly advice?: string }> {
  const { prove, knowsRulesNear } = blockProver();
  const proofAt = async (at: number) => {
    const { block, listed: transactions } = await bodyReader(client)(at);
    const receipts = hasBlockReceipts
      ? await client.request({ method: 'eth_getBlockReceipts', params: [numberToHex(at)] })
      : await oneByOne(transactions, ({ hash }) =>
          client.request({ method: 'eth_getTransactionReceipt', params: [hash] }),
        );
    return prove({ block, transactions, receipts: receipts ?? transactions.map(() => null) });
  };
  const proof = await proofAt(number);
  if (proof.kind === 'proven') return { detail: 'newest block proven (consistent with one node)' };
  if (proof.kind === 'contradiction' && (await knowsRulesNear(number, proofAt)))
    throw new Fault(
      `contradicts the hash of block ${number}: ${proof.reason}`,
      'Update the node, or use another one: such a block is not indexed, and payments in it wait.',
    );
  return {
    detail: 'newest block not proven',
    advice: `${use} without a proof: ${proof.reason}.`,
  };
}

/** Longest range of `LOG_RANGES` whose logs the node returns in one answer. */
async function logRange({ nodes: [node] }: ChainClient, head: number): Promise<number> {
  let refusal: unknown;
  for (const blocks of LOG_RANGES) {
    const [fromBlock, toBlock] = [numberToHex(Math.max(0, head - blocks + 1)), numberToHex(head)];
    try {
      await node?.request({
        method: 'eth_getLogs',
        params: [{ fromBlock, toBlock, address: UNUSED_ADDRESS, topics: [TRANSFER] }],
      });
      return blocks;
    } catch (error) {
      if (!nodeAnswered(error)) throw error;
      refusal = error;
    }
  }
  throw new Fault('refuses eth_getLogs', 'Payments are found by it: use a node that supports it.', {
    cause: refusal,
  });
}
