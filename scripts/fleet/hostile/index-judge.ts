import { setTimeout as delay } from 'node:timers/promises';
import { list, record } from '../../../test/lab/json.ts';
import type { Observers } from '../replica-client.ts';
import type { PaidSale } from '../sales.ts';
import { type ChainBlock, pathOfBlock, truth } from '../truth.ts';
import { compareReplicas } from '../verdict.ts';
import { ODD_AMOUNT, type Scene, type Traces } from './attacks.ts';

/** The stranger's work, and what it left. */
export interface Judged {
  readonly scene: Scene;
  readonly traces: Traces;
  readonly observers: Observers;
}

const INDEXED_WITHIN_MS = 60_000;
const ANSWERED_WITHIN_MS = 20_000;
const PAUSE_MS = 200;
/** Mined before the comparison of blocks, which leaves out the latest ones. */
const LAST_BLOCKS = 4;
/** Groups per page of the API. */
const LIMIT = 500;
/** No answer in time, a failure of the service, and an overloaded one. */
const BUSY = 503;
const FAILURES = [0, 500, BUSY];
const JSON_CONTENT = { 'content-type': 'application/json' };

/**
 * Compares the indexes with the chain after the attacks: each has the last block, and the same blocks, payments and
 * numbers of logs. Nothing is mined meanwhile. Returns the number of compared answers.
 */
export async function compareIndexes({ scene, traces, observers }: Judged): Promise<number> {
  const { chain, dataUrls } = scene;
  await chain.chain.mine(LAST_BLOCKS);
  return await chain.alone(async ({ head }) => {
    const last = await head();
    for (const url of dataUrls) {
      if (await showsBlock(url, { chainId: chain.id, height: last })) continue;
      observers.violation(`the index is behind: ${url} does not show block ${last}`);
      return 0;
    }
    const compared = await compareReplicas({
      urls: dataUrls,
      truth: truth([chain]),
      chains: [chain],
      paid: traces.sales,
      observers,
    });
    const logs = await logsOnChain(scene, last);
    const without = await blocksOf(scene, traces.unreadable);
    for (const url of dataUrls) {
      const indexed = await logsInIndex(url, chain.id);
      for (const [block, count] of logs) {
        const shown = indexed.get(block) ?? 0;
        if (shown !== count && !without.has(block))
          observers.violation(`${url} shows ${shown} logs in block ${block}, the chain has ${count}`);
      }
    }
    return compared + logs.size * dataUrls.length;
  });
}

/**
 * Asks for records that the stranger has made. Each request has an answer in time, and none fails. Returns the number of
 * requests.
 */
export async function readHostileRecords({ scene, traces, observers }: Judged): Promise<number> {
  const { chain, dataUrls, shop } = scene;
  const hashes = [...traces.sales, ...traces.unreadable].map(sale => sale.transactionHash);
  const paths = [
    '/explorer/tokens?',
    '/explorer/search?q=odd&',
    `/explorer/addresses/${shop.recipient}/token-transfers?`,
    `/explorer/addresses/${chain.attacker}/transactions?`,
    ...[...chain.tokens.values()].flatMap(token => [
      `/explorer/addresses/${token}?`,
      ...['', '/transfers', '/holders', '/instances'].map(part => `/explorer/tokens/${token}${part}?`),
      `/explorer/tokens/${token}/instances/${ODD_AMOUNT}?`,
    ]),
    ...[...hashes, ...traces.untraceable].flatMap(hash =>
      ['', '/logs', '/token-transfers', '/internal-transactions', '/raw-trace', '/state-changes'].map(
        part => `/explorer/transactions/${hash}${part}?`,
      ),
    ),
  ];
  for (const url of dataUrls) {
    for (const path of paths) {
      const status = await lastStatusOf(`${url}${path}chain_id=${chain.id}`);
      if (FAILURES.includes(status)) observers.violation(`${url}${path} is answered with ${status}`);
    }
  }
  return paths.length * dataUrls.length;
}

async function showsBlock(url: string, block: ChainBlock): Promise<boolean> {
  for (const deadline = Date.now() + INDEXED_WITHIN_MS; Date.now() < deadline; await delay(PAUSE_MS)) {
    if ((await statusOf(url + pathOfBlock(block))) === 200) return true;
  }
  return false;
}

/** Status of an answer, asked for again while the service says that it is busy. */
async function lastStatusOf(url: string): Promise<number> {
  const deadline = Date.now() + ANSWERED_WITHIN_MS;
  for (;;) {
    const status = await statusOf(url);
    if (status !== BUSY || Date.now() > deadline) return status;
    await delay(PAUSE_MS);
  }
}

/** Status of an answer that was read to its end; 0 when there was none in time. */
async function statusOf(url: string): Promise<number> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Number of logs of each block with logs, from its receipts. They are counted as text, because they are large. */
async function logsOnChain({ chain }: Scene, last: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let block = 0; block <= last; block += 1) {
    const method = 'eth_getBlockReceipts';
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [`0x${block.toString(16)}`] });
    const answer = await fetch(chain.configured.rpcUrl, { method: 'POST', headers: JSON_CONTENT, body });
    const count = (await answer.text()).split('"logIndex"').length - 1;
    if (count > 0) counts.set(block, count);
  }
  return counts;
}

/** Number of logs of each block with logs, as an index counts them. */
async function logsInIndex(url: string, chainId: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const query = `chain_id=${chainId}&group_by=block_number&aggregate=count()%20as%20logs&limit=${LIMIT}`;
  for (let page = 0; counts.size === page * LIMIT; page += 1) {
    const answer = await fetch(`${url}/insights/v1/events?${query}&page=${page}`);
    for (const group of list(record(await answer.json()).aggregations)) {
      const { block_number: block, logs } = record(group);
      counts.set(Number(block), Number(logs));
    }
  }
  return counts;
}

async function blocksOf({ chain }: Scene, sales: readonly PaidSale[]): Promise<Set<number>> {
  const transactions = sales.map(sale => chain.ask('eth_getTransactionByHash', sale.transactionHash));
  return new Set((await Promise.all(transactions)).map(found => Number(record(found).blockNumber)));
}
