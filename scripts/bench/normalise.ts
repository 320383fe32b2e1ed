import { blockscoutBackend } from '../../src/data/backends/blockscout/blockscout-backend.ts';
import type { Answer, Answers } from '../../src/data/backends/port/backend.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { toJson } from '../../src/lib/json.ts';
import { parseJson } from '../../src/lib/json-text/lossless-json.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Figure, figureOf } from './figure.ts';
import { pageOf } from './normalise/pages.ts';
import { parts } from './turns.ts';

const WARM_ROUNDS = 40;
const ROUNDS = 61;
const PAGES_A_ROUND = 20;
const MAX_OVER_PLAIN = 2.5;

const ADDRESS = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

type Ask = (answers: Answers, signal: AbortSignal) => Promise<Answer<unknown>> | undefined;

interface Page {
  readonly name: string;
  readonly text: string;
  readonly ask: Ask;
}

const transactions: Ask = (answers, signal) =>
  answers.listTransactions?.({ path: {}, query: { filter: 'validated' } }, { signal });

const PAGES: readonly Page[] = [
  { name: 'transactions', text: pageOf('getTransaction/v11'), ask: transactions },
  {
    name: 'transactions with a number of 20 digits each',
    text: pageOf('getTransaction/v11', { nonce: JSON.rawJSON('18446744073709551615') }),
    ask: transactions,
  },
  {
    name: 'token transfers',
    text: pageOf('listTokenTransfers/v11'),
    ask: (answers, signal) => answers.listTokenTransfers?.({ path: {}, query: {} }, { signal }),
  },
  {
    name: 'logs',
    text: pageOf('listAddressLogs/v11'),
    ask: (answers, signal) =>
      answers.listAddressLogs?.({ path: { address_hash: ADDRESS }, query: {} }, { signal }),
  },
  {
    name: 'blocks',
    text: pageOf('listBlocks/v11'),
    ask: (answers, signal) => answers.listBlocks?.({ path: {}, query: { type: 'block' } }, { signal }),
  },
];

/**
 * CPU time to parse a page of 50 items from Blockscout 11, normalise it and write it, over JSON.parse and
 * JSON.stringify of the same text. Measured through the back end, from text to text, without HTTP.
 */
export async function benchNormalise(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const page of PAGES) figures.push(await overPlain(page));
  return figures;
}

async function overPlain({ name, text, ask }: Page): Promise<Figure> {
  const { answers } = backendAnswering(text);
  const { signal } = new AbortController();
  const serve = async () => {
    const answer = await ask(answers, signal);
    if (answer === undefined) throw new Error(`the back end has no answer for ${name}`);
    return toJson(answer.body);
  };
  const plain = async () => JSON.stringify(JSON.parse(text));
  const times: { own: number; bare: number }[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const time = { own: await cpuMs(serve), bare: await cpuMs(plain) };
    if (round >= 0) times.push(time);
  }
  const pageMs = sumOf(times, 'own') / ROUNDS / PAGES_A_ROUND;
  return figureOf({
    name: `page of 50 ${name}, text to text, over JSON.parse and JSON.stringify`,
    rounds: parts(times).map(part => sumOf(part, 'own') / sumOf(part, 'bare')),
    wanted: { atMost: MAX_OVER_PLAIN },
    note: `${(text.length / 1000).toFixed(0)} kB in ${pageMs.toFixed(2)} ms`,
  });
}

function sumOf<Key extends string>(times: readonly Record<Key, number>[], key: Key): number {
  return times.reduce((sum, time) => sum + time[key], 0);
}

/** Back end of an instance whose every answer is this text. */
function backendAnswering(text: string) {
  return blockscoutBackend({
    name: 'text',
    chainId: 1,
    confirmations: 12,
    upstream: {
      get: async () => ({ status: 200, body: parseJson(text) }),
      ownParameters: new Set<string>(),
      isSecret: () => false,
      isReady: () => true,
      close: async () => {},
    },
    clock: systemClock,
    log: createLogger({ level: 'warn' }),
    onDropped: () => {},
  });
}

/**
 * CPU time of this thread for several pages, in milliseconds. Wall time would include other processes. Some kernels
 * count CPU time in steps of 4 ms, so only sums are meaningful.
 */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  for (let page = 0; page < PAGES_A_ROUND; page++) await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
