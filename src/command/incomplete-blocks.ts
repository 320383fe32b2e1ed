import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { readSchema } from '#db/migrate.ts';
import { type DatabaseOptions, databaseName, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { askNow, type UnreadBlock, unreadBlocks } from '#indexer/schema/unread-blocks.ts';
import { systemClock, timestamp } from '#lib/clock.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { atPlace } from '#lib/startup-error.ts';

/** Most blocks of an index that are shown, or asked for again, by one call. */
const MOST_BLOCKS = 100;

const USAGE = `Usage: tollgate index --config FILE [--chain ID] [--from NUMBER] [--retry]

  Shows the blocks that the indexes of a configuration have without a receipt, a trace or the code of a receiver, because
  the node could not give it: at most ${MOST_BLOCKS} of each index, lowest first. The process that writes the index asks for them again,
  after a minute at first and once a day in the end.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --chain ID               only the index of this chain
  --from NUMBER            from this block on; 0 when absent
  --retry                  have the shown blocks asked for again within seconds
  --help                   print this
`;

/** Shows the incomplete blocks of indexes, or has them asked for again. @throws UsageError, Refused */
export async function runIndex(args: readonly string[]): Promise<void> {
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
  const { config: file, retry = false } = values;
  const chain = numberOf('chain', values.chain);
  const from = numberOf('from', values.from) ?? 0;
  const config = loadConfig({ env: readEnvironment().variables, ...(file === undefined ? {} : { file }) });
  if (config.file === undefined) throw new UsageError('--config is missing, and so is TOLLGATE_CONFIG');
  const indexes = config.chains.flatMap(({ id, backends }) =>
    backends.flatMap(one =>
      one.kind === 'index' && (chain ?? id) === id ? [{ id, database: one.database }] : [],
    ),
  );
  if (indexes.length === 0) {
    throw new Refused(chain === undefined ? 'No chain has an index.' : `Chain ${chain} has no index.`);
  }
  for (const { id, database } of indexes) {
    await showIndex(id, { database, from, retry }).catch(error => {
      throw atPlace(error, config.placeOf);
    });
  }
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} must be a number`);
  return text === undefined ? undefined : Number(text);
}

async function showIndex(
  chainId: number,
  { database, from, retry }: { database: DatabaseOptions; from: number; retry: boolean },
): Promise<void> {
  const options = indexOptions(database, chainId);
  const { pending, refusal } = await readSchema(options, indexSchema(chainId, database));
  if (refusal !== undefined) throw new Refused(refusal);
  if (pending.length > 0)
    throw new Refused(`The index of chain ${chainId} is not migrated; run "tollgate migrate" first.`);
  const db = openDatabase(options);
  try {
    const blocks = await unreadBlocks(db, { from, limit: MOST_BLOCKS });
    process.stdout.write(`index of chain ${chainId}, ${databaseName(options)}\n${linesOf(blocks)}`);
    if (!retry) return;
    const now = systemClock.now();
    const due = await transaction(db, handle => askNow(handle, { now, from, limit: MOST_BLOCKS }));
    process.stdout.write(`  asked for again within seconds: ${due}\n`);
  } finally {
    await db.destroy();
  }
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
