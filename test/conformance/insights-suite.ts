import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import type { SeenChain } from '../data/insights/over-http/ground.ts';
import type { EmulatedThirdwebRequest } from '../lab/thirdweb-emulator.ts';
import { type Client, client } from '../support/contract-client.ts';
import { differences } from './differences.ts';
import { type InsightsCase, insightsCases } from './insights/cases.ts';

/** A running data service whose chains have only the tested back end. */
export interface InsightsSubject extends AsyncDisposable {
  readonly url: string;
  /** Name of a chain's back end. */
  backendOf(chainId: number): string;
  /** A data service of the same chains over their indexes. */
  readonly referenceUrl: string;
  readonly chains: readonly [SeenChain, SeenChain];
  /** Requests to its upstream so far; empty where there is none. */
  upstreamRequests(): readonly EmulatedThirdwebRequest[];
}

/** A fault and its position. */
interface Found {
  readonly of: string;
  readonly path: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * Guarantees of every back end of document 2 over HTTP, with every answer checked against the contract and against an
 * index of the same chains. No back end may differ.
 */
export function insightsConformance(name: string, start: () => Promise<InsightsSubject>): void {
  describe(name, () => {
    let running: { subject: InsightsSubject; api: Client; reference: Client } | undefined;
    const bench = () => {
      if (running === undefined) throw new Error(`${name} was not started`);
      return running;
    };
    const compares = new Set<string>();

    beforeAll(async () => {
      const subject = await start();
      running = { subject, api: client(subject.url), reference: client(subject.referenceUrl) };
    });
    afterAll(() => running?.subject[Symbol.asyncDispose]());

    test('answers of every operation equal the index’s, failures included', async () => {
      const { subject } = bench();
      const found: Found[] = [];
      for (const one of insightsCases(subject.chains)) found.push(...(await compared(one)));

      expect(found).toEqual([]);
      expect([...compares].sort()).toEqual(Object.keys(insightsContract.table).sort());
    });

    test('pages of an order are the complete list without repeats, with the true total', async () => {
      const { api, subject } = bench();
      const [{ id, seen }] = subject.chains;
      const hashes: string[] = [];
      const limit = 50;
      const pages = Math.ceil(seen.transactions.length / limit);
      for (let page = 0; page < pages; page += 1) {
        const query = `chain_id=${id}&limit=${limit}&page=${page}&sort_by=gas_price`;
        const { body } = await api.get(`/insights/v1/transactions?${query}`);
        const { data, meta } = JSON.parse(JSON.stringify(body));
        expect(meta).toMatchObject({ total_items: seen.transactions.length, total_pages: pages });
        hashes.push(...data.map(({ hash }: { hash: string }) => hash));
      }

      expect(new Set(hashes)).toEqual(new Set(seen.transactions.map(({ hash }) => hash)));
      expect(hashes).toHaveLength(seen.transactions.length);
    });

    test('the longest page has all rows, whatever the upstream’s page limit is', async () => {
      const { api, reference, subject } = bench();
      const [first, second] = subject.chains;
      const path = `/insights/v1/transactions?chain_id=${first.id}&chain_id=${second.id}&limit=1000`;
      const [actual, expected] = await Promise.all([api.get(path), reference.get(path)]);

      expect(actual.status).toBe(200);
      expect(differences(actual.body, expected.body)).toEqual([]);
    });

    test('headers name the chains and their back ends', async () => {
      const { api, subject } = bench();
      const ids = subject.chains.map(({ id }) => id);
      const query = ids.toReversed().map(id => `chain_id=${id}`);
      const { headers } = await api.get(`/insights/v1/blocks?${query.join('&')}`);

      expect(headers.get('x-chain-id')).toBe(ids.toReversed().join(', '));
      expect(headers.get('x-backend')).toBe(ids.toReversed().map(subject.backendOf).join(', '));
    });

    test('an upstream shared by several chains receives one call for all of them', async () => {
      const { api, subject } = bench();
      const before = subject.upstreamRequests().length;
      const ids = subject.chains.map(({ id }) => String(id));
      const query = ids.map(id => `chain_id=${id}`).join('&');
      await api.get(`/insights/v1/blocks?${query}&limit=400&sort_order=asc`);
      const asked = subject.upstreamRequests().slice(before);

      for (const request of asked) expect(request.query.getAll('chain_id')).toEqual(ids);
      expect(asked.length).toBeLessThanOrEqual(1);
    });

    test('a request refused by the contract never reaches an upstream', async () => {
      const { api, subject } = bench();
      const before = subject.upstreamRequests().length;
      for (const path of [
        'blocks?page=21',
        'blocks?filter_value=1',
        'transactions?filter_hash=1',
        'transactions?aggregate=sum(nonsense)',
        'transactions?sort_by=nonsense',
        'wallets/0x12/transactions',
        'events/0x12/Transfer()',
        'tokens/price',
        'tokens',
        'tokens?owner_address=0x12',
        'nfts/transfers/0x12',
        'nfts',
        'nfts/0x12',
        'nfts/cards.eth/-1',
      ]) {
        const { status, body } = await api.get(`/insights/v1/${path}`);
        expect([path, status, body]).toEqual([path, 400, { error: expect.any(String) }]);
      }
      expect(subject.upstreamRequests()).toHaveLength(before);
    });

    test('no request causes a failure of the upstream', () => {
      const { subject } = bench();
      const crashed = subject.upstreamRequests().filter(({ status }) => status >= 500);

      expect(crashed.map(({ path, query }) => `${path}?${query}`)).toEqual([]);
    });

    /** Sends the same request to both and returns the differences. */
    async function compared({ operation, path }: InsightsCase): Promise<Found[]> {
      const { api, reference } = bench();
      const [actual, expected] = await Promise.all([api.get(path), reference.get(path)]);
      if (actual.status !== expected.status) {
        return [
          { of: path, path: 'status', actual: [actual.status, actual.body], expected: expected.status },
        ];
      }
      compares.add(operation);
      // Each has its own messages.
      if (actual.status !== 200) return [];
      const found = differences(actual.body, expected.body);
      const ofEachSort = new Map(found.map(one => [one.path, one]));
      return [...ofEachSort.values()].map(one => ({ of: path, ...one }));
    }
  });
}
