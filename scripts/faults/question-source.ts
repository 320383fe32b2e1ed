import type { Fields } from '../../src/data/backends/upstream-json/fields.ts';
import { addressOf, blockHash, hashOf } from '../../test/lab/instance-records.ts';
import { INSTANCES, SHARED, type World } from '../../test/lab/instance-world.ts';
import type { Question } from './question.ts';
import type { Random } from './random.ts';

/** Draws questions of all kinds, some of them repeatedly, others once. */
export interface QuestionSource {
  draw(): Question;
  /** Question for the next page of a list, at the position that an answer of this chain names. */
  following(question: Question, chain: World, next: Fields): Question;
  /** Questions that some chain can answer; half of them are frequent ones. */
  known(count: number): Question[];
}

type Draft = Pick<Question, 'operationId' | 'path' | 'fields' | 'way' | 'settles'>;

const TRANSACTION = ['hash', 'value', 'nonce', 'block_number'] as const;
const BLOCK = ['hash', 'height', 'gas_used'] as const;
const HOT = 6;
/** Shares of the questions about frequent ids, about ids that no chain has, and to one chain only. */
const SHARES = { hot: 0.55, unknown: 0.08, oneChain: 0.06 } as const;

/** Draws from the ids of all these chains: hot (frequent) ones, cold ones and unknown ones, which no chain has. */
export function questionSource(worlds: readonly World[], random: Random): QuestionSource {
  let unknowns = 0;

  const one = (kind: 'hot' | 'cold' | 'unknown', name: string, chain: World, all: readonly string[]) => {
    if (kind === 'unknown') return hashOf(`unknown ${name} ${unknowns++}`);
    // Hot ids are shared, old or near the head.
    const hot = [...all.slice(0, HOT), ...all.slice(SHARED, SHARED + HOT), ...all.slice(-HOT)];
    return random.pick(kind === 'hot' ? hot : all) || hashOf(`${chain.chainId}`);
  };

  const drafts: readonly [weight: number, make: (kind: Temper, chain: World) => Draft][] = [
    [
      28,
      (kind, chain) => ({
        ...lookup('getTransaction', TRANSACTION),
        path: `/transactions/${one(kind, 'transaction', chain, chain.transactions)}`,
      }),
    ],
    [
      8,
      (kind, chain) => ({
        ...lookup('listTransactionLogs', ['transaction_hash', 'index', 'data']),
        path: `/transactions/${one(kind, 'logs', chain, chain.transactions)}/logs`,
      }),
    ],
    [
      8,
      (kind, chain) => ({
        ...lookup('listTransactionInternalTransactions', ['transaction_hash', 'index', 'value']),
        path: `/transactions/${one(kind, 'calls', chain, chain.transactions)}/internal-transactions`,
      }),
    ],
    [
      8,
      (kind, chain) => ({
        ...lookup('getBlock', BLOCK),
        path: `/blocks/${kind === 'unknown' ? one(kind, 'block', chain, []) : blockHash(chain.chainId, height(kind, chain))}`,
      }),
    ],
    [
      10,
      (kind, chain) => ({
        ...lookup('getBlock', BLOCK),
        way: 'available',
        path: `/blocks/${height(kind, chain)}`,
      }),
    ],
    [
      6,
      (kind, chain) => ({
        ...lookup('listBlockTransactions', TRANSACTION),
        way: 'available',
        path: `/blocks/${height(kind, chain)}/transactions`,
      }),
    ],
    [5, () => ({ ...feed('listTransactions', TRANSACTION), path: '/transactions' })],
    [4, () => ({ ...feed('listBlocks', BLOCK), path: '/blocks' })],
    [3, () => ({ ...feed('listMainPageBlocks', BLOCK), path: '/main-page/blocks' })],
    [
      12,
      (kind, chain) => ({
        ...lookup('listAddressWithdrawals', ['index', 'amount', 'block_number']),
        settles: false,
        path: `/addresses/${address(kind, chain)}/withdrawals`,
      }),
    ],
    [
      4,
      (kind, chain) => ({
        ...lookup('getSmartContract', ['name']),
        settles: false,
        path: `/smart-contracts/${address(kind, chain)}`,
      }),
    ],
    [
      4,
      (kind, chain) => ({
        ...lookup('getTokenInstance', ['id', 'image_url']),
        settles: false,
        path: `/tokens/${address(kind, chain)}/instances/${random.below(INSTANCES)}`,
      }),
    ],
  ];
  const wheel = drafts.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

  return { draw, following, known };

  function draw(): Question {
    const chain = random.pick(worlds);
    const draft = random.pick(wheel)(temper(), chain);
    return random.chance(SHARES.oneChain) ? finished(draft, [chain]) : finished(draft, worlds);
  }

  function known(count: number): Question[] {
    return Array.from({ length: count }, (_, n) => {
      const chain = random.pick(worlds);
      return finished(random.pick(wheel)(n % 2 === 0 ? 'hot' : 'cold', chain), worlds);
    });
  }

  function following(question: Question, chain: World, { cursor, block_number, index }: Fields): Question {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ block_number, index }))
      if (value !== undefined) query.set(name, String(value));
    return {
      ...question,
      target: `/explorer${question.path}?cursor=${cursor}`,
      query,
      way: 'available',
      chains: [chain],
    };
  }

  function finished(draft: Draft, chains: readonly World[]): Question {
    const [only] = chains.length === 1 ? chains : [];
    return {
      ...draft,
      query: new URLSearchParams(),
      chains,
      target: `/explorer${draft.path}${only === undefined ? '' : `?chain_id=${only.chainId}`}`,
    };
  }

  function temper(): Temper {
    const drawn = random.next();
    if (drawn < SHARES.hot) return 'hot';
    return drawn < 1 - SHARES.unknown ? 'cold' : 'unknown';
  }

  /** Draws a height. An unknown one is above the heads of some or all chains. */
  function height(kind: Temper, { head }: World): number {
    if (kind === 'unknown') return head + 1 + random.below(60);
    return kind === 'hot' ? head - 2 * random.below(HOT) : random.below(head + 1);
  }

  function address(kind: Temper, chain: World): string {
    if (kind === 'unknown') return addressOf(`unknown ${unknowns++}`);
    return kind === 'hot'
      ? (chain.addresses[random.below(HOT)] ?? addressOf('none'))
      : random.pick(chain.addresses);
  }
}

type Temper = 'hot' | 'cold' | 'unknown';

function lookup(operationId: string, fields: readonly string[]) {
  return { operationId, fields, way: 'found' as const, settles: true };
}

function feed(operationId: string, fields: readonly string[]) {
  return { operationId, fields, way: 'available' as const, settles: false };
}
