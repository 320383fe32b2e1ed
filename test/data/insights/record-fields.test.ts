import { describe, expect, test } from 'vitest';
import { child } from '#contract/contracts/document.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import { block } from '#data/backends/thirdweb/normalise/block.ts';
import { event } from '#data/backends/thirdweb/normalise/event.ts';
import { transactionRecord } from '#data/backends/thirdweb/normalise/transaction.ts';
import { columnOf, recordColumns } from '#indexer/query/columns.ts';
import { postgresQueries } from '#indexer/query/postgres/postgres-engine.ts';
import { recordWriter } from '#indexer/query/records/record-writers.ts';
import { sqliteQueries } from '#indexer/query/sqlite/sqlite-dialect.ts';
import { fieldShape, SORTABLE } from '#query-model/fields.ts';

const RECORDS = { blocks: 'Block', transactions: 'Transaction', events: 'ContractEvent' } as const;
const NORMALISERS = { blocks: block, transactions: transactionRecord, events: event };
/** List fields, which are shown and never sorted by, grouped or aggregated. */
const LISTS = ['access_list_json', 'authorization_list_json'];
const TOPICS = ['topic_0', 'topic_1', 'topic_2', 'topic_3'];
const UPSTREAM = { chainIds: [1], isDecoded: false };

describe.each(['blocks', 'transactions', 'events'] as const)('each field of the contract’s %s', entity => {
  const schema = child(child(child(insightsContract.document, 'components'), 'schemas'), RECORDS[entity]);
  const shown = Object.keys(child(schema, 'properties')).filter(name => name !== 'decoded');
  const stored = shown.flatMap(name => (name === 'topics' ? TOPICS : [name]));
  const single = stored.filter(name => !LISTS.includes(name));
  const row = Object.fromEntries(stored.map(name => [name, sampleOf(entity, name)]));

  test('can be sorted by, grouped and aggregated', () => {
    expect(namesIn(SORTABLE[entity])).toEqual(namesIn(single));
  });

  test('has a column of the index to filter by', () => {
    for (const dialect of [sqliteQueries, postgresQueries])
      for (const name of single) expect(columnOf(entity, name, dialect).sql).not.toBe('');
  });

  test('is read with the rows of a page', () => {
    for (const dialect of [sqliteQueries, postgresQueries])
      expect(namesIn(recordColumns(entity, dialect).map(({ field }) => field))).toEqual(namesIn(stored));
  });

  test('is in a record of the own index', () => {
    const write = recordWriter({ entity, fields: Object.keys(row) });

    expect(namesIn(Object.keys(JSON.parse(write(Object.values(row)))))).toEqual(namesIn(shown));
  });

  test('is in a record from thirdweb', () => {
    expect(namesIn(Object.keys(NORMALISERS[entity](row, UPSTREAM)))).toEqual(namesIn(shown));
  });
});

function namesIn(names: readonly string[]): string[] {
  return names.toSorted();
}

/** A possible value of the field, as the index and thirdweb write it. */
function sampleOf(entity: keyof typeof RECORDS, name: string): string {
  if (LISTS.includes(name)) return '[{"address":"0x"}]';
  // Only a transaction of this type has blobs.
  if (name === 'transaction_type') return '3';
  if (fieldShape(entity, name)?.type !== 'hex') return '1';
  return `0x${'ab'.repeat(/address|miner/.test(name) ? 20 : 32)}`;
}
