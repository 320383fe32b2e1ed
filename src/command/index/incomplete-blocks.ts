import { databaseName } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { askNow, type UnreadBlock, unreadBlocks } from '#indexer/schema/unread-blocks.ts';
import { systemClock, timestamp } from '#lib/clock.ts';
import { numberOption, readArguments } from '#lib/command-line.ts';
import { type ConfiguredIndex, inEachIndex, withIndex } from './configured-indexes.ts';
import { runVerify } from './verify.ts';

/** Most blocks of an index that are shown, or asked for again, by one call. */
const MAX_BLOCKS = 100;

const USAGE = `Usage: tollgate index --config FILE [--chain ID] [--from NUMBER] [--retry]
       tollgate index verify --config FILE [--chain ID] [--repair]

  Shows the blocks that the indexes of a configuration have without a receipt, a trace or the code of a receiver, because
  the node could not give it: at most ${MAX_BLOCKS} of each index, lowest first. The process that writes the index asks for them again,
  after a minute at first and once a day in the end.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --chain ID               only the index of this chain
  --from NUMBER            from this block on; 0 when absent
  --retry                  have the shown blocks asked for again within seconds
  --help                   print this

  "tollgate index verify" compares balances, owners, supplies and counters; its --help shows its options.
`;

/** Runs a command about indexes: shows their incomplete blocks, or verifies them. @throws UsageError, Refused */
export async function runIndex([first, ...rest]: readonly string[]): Promise<void> {
  if (first === 'verify') await runVerify(rest);
  else await runIncompleteBlocks(first === undefined ? [] : [first, ...rest]);
}

/** Shows the incomplete blocks of indexes, or has them asked for again. @throws UsageError, Refused */
async function runIncompleteBlocks(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      config: { type: 'string' },
      chain: { type: 'string' },
      from: { type: 'string' },
      retry: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const from = numberOption('from', values.from) ?? 0;
  await inEachIndex(values, index => showIndex(index, { from, retry: values.retry === true }));
}

function showIndex(index: ConfiguredIndex, { from, retry }: { from: number; retry: boolean }): Promise<void> {
  return withIndex(index, async (db, options) => {
    const blocks = await unreadBlocks(db, { from, limit: MAX_BLOCKS });
    process.stdout.write(`index of chain ${index.id}, ${databaseName(options)}\n${linesOf(blocks)}`);
    if (!retry) return;
    const now = systemClock.now();
    const due = await transaction(db, handle => askNow(handle, { now, from, limit: MAX_BLOCKS }));
    process.stdout.write(`  asked for again within seconds: ${due}\n`);
  });
}

function linesOf(blocks: readonly UnreadBlock[]): string {
  if (blocks.length === 0) return '  every block is complete\n';
  return blocks
    .map(({ number, receipts, traces, codes, attempts, dueAt, reason }) => {
      const missing = Object.entries({ receipts, traces, codes }).flatMap(([part, count]) =>
        count === 0 ? [] : [`${part} of ${count}`],
      );
      const next = timestamp(dueAt);
      return `  ${number}  ${missing.join(', ')}  asked again ${attempts} times, next ${next}  ${reason}\n`;
    })
    .join('');
}
