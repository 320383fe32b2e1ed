import type { Contract } from '#contract/contracts/contract.ts';
import { explorerContract } from '#contract/contracts/explorer.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import { isEventStream } from '#contract/contracts/operations.ts';
import { exampleTarget } from '#contract/description/code-samples.ts';
import { operationsIn } from '../../contract/payments/operation.ts';
import type { Figure } from '../figure.ts';
import { bulkIndex } from '../insights/bulk-index.ts';
import { startServer } from '../server-process.ts';
import { HEAVY, writeHeavyIndex } from './heavy-index.ts';
import { type RequestKind, stallFigures, worstStall } from './longest-stall.ts';

const INSIGHTS = '/insights/v1';
const EXPLORER = '/explorer';

/** Stalls of the data service: all operations by their examples, the longest pages, and large records. */
export async function dataStalls(): Promise<Figure[]> {
  return [...(await examples()), ...(await longPages()), ...(await largeRecords())];
}

/** Stalls by the examples of the contracts, on embedded chains that have the records of the examples. */
async function examples(): Promise<Figure[]> {
  await using server = await startServer('uncached');
  const pages = ['/', '/chain/31337', '/playground', '/chain/31337/block/5'];
  return [
    await worstStall(server, { name: 'document 1 by its examples', kinds: kindsOf(explorerContract) }),
    await worstStall(server, { name: 'document 2 by its examples', kinds: kindsOf(insightsContract) }),
    await worstStall(server, {
      name: 'pages of the data service',
      kinds: Object.fromEntries(pages.map(path => [path, () => ({ path })])),
    }),
  ];
}

function kindsOf<Operations>(contract: Contract<Operations>): Record<string, RequestKind> {
  return Object.fromEntries(
    operationsIn(contract).flatMap(operation => {
      if (isEventStream(operation.row)) return []; // it does not end
      const path = exampleTarget(operation);
      return [[operation.id, () => ({ path })]];
    }),
  );
}

/** Stalls by pages of 1,000 rows, and by groups, on an index of 100,000 transactions. */
async function longPages(): Promise<Figure[]> {
  const { file, blocks } = await bulkIndex(100_000);
  await using server = await startServer('index', file, String(blocks));
  const page =
    (entity: string, more = ''): RequestKind =>
    round => ({ path: `${INSIGHTS}/${entity}?limit=1000${more}&filter_block_number_lt=${blocks - round}` });
  return await stallFigures(server, {
    '1,000 blocks': page('blocks'),
    '1,000 transactions': page('transactions'),
    '1,000 transactions, decoded': page('transactions', '&decode=true'),
    '1,000 events': page('events'),
    '1,000 events, decoded': page('events', '&decode=true'),
    'groups by 5,000 senders': page('transactions', '&group_by=from_address&aggregate=sum(gas_used),count()'),
    'groups by 100,000 hashes': round => ({
      path: `${INSIGHTS}/transactions?limit=1000&group_by=hash&aggregate=count()&page=${round}`,
    }),
  });
}

/**
 * Stalls by a block with many transactions, long call data and many logs. The examples cover a contract with source.
 */
async function largeRecords(): Promise<Figure[]> {
  await using index = await writeHeavyIndex();
  await using server = await startServer('index', index.file, String(HEAVY.blocks));
  const at =
    (path: string): RequestKind =>
    () => ({ path });
  return await stallFigures(server, {
    'a transaction with 1 MB of call data': at(`${EXPLORER}/transactions/${HEAVY.longCall}`),
    'logs of a transaction, 1 kB each': at(`${EXPLORER}/transactions/${HEAVY.manyLogs}/logs`),
    'transactions of a block with 2,000': at(`${EXPLORER}/blocks/${HEAVY.block}/transactions`),
    'insights: 1,000 transactions of 1 kB and one of 1 MB, decoded': at(
      `${INSIGHTS}/transactions?limit=1000&decode=true&filter_block_number=${HEAVY.block}`,
    ),
    'insights: 1,000 logs of 1 kB': at(`${INSIGHTS}/events?limit=1000&filter_block_number=${HEAVY.block}`),
    'insights: topic of an event by its name': at(
      `${INSIGHTS}/events/${HEAVY.contract}/${encodeURIComponent(HEAVY.event)}?limit=20`,
    ),
  });
}
