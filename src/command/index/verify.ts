import { databaseName } from '#db/open.ts';
import type { StateDifference } from '#indexer/state/compare-state.ts';
import { type Verification, verifyState } from '#indexer/state/verify-state.ts';
import { systemClock } from '#lib/clock.ts';
import { numberOption, readArguments } from '#lib/command-line.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { type ConfiguredIndex, inEachIndex, withIndex } from './configured-indexes.ts';

const MAX_ENTRIES = 100_000;
const MAX_SECONDS = 600;
/** Time for an answer of a node. */
const TIMEOUT_MS = 30_000;

const VERIFY_USAGE = `Usage: tollgate index verify --config FILE [--chain ID] [--from NUMBER] [--limit NUMBER] [--seconds NUMBER] [--repair]

  Compares what the indexes of a configuration know of the chain's state with their nodes, at the newest block: balances,
  owners of NFTs and supplies; and counters of addresses and tokens, and totals, with the rows of the index. It prints a
  line for each difference and a summary. The index may be written meanwhile. Exit code 1 when something differs and is not repaired,
  or a node did not give it.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --chain ID               only the index of this chain
  --from NUMBER            only state that was touched from this block on; the first block of the index when absent
  --limit NUMBER           stop after this many values of an index; ${MAX_ENTRIES} when absent
  --seconds NUMBER         stop after this time for an index; ${MAX_SECONDS} when absent
  --repair                 count wrong counters again, and have the process that writes the index read again what else differs
  --help                   print this
`;

/** Compares the state of indexes with their nodes. @throws UsageError, Refused */
export async function runVerify(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      config: { type: 'string' },
      chain: { type: 'string' },
      from: { type: 'string' },
      limit: { type: 'string' },
      seconds: { type: 'string' },
      repair: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(VERIFY_USAGE);
    return;
  }
  const from = numberOption('from', values.from) ?? 0;
  const limit = numberOption('limit', values.limit) ?? MAX_ENTRIES;
  const seconds = numberOption('seconds', values.seconds) ?? MAX_SECONDS;
  const isRepairing = values.repair === true;
  await inEachIndex(values, async index => {
    const deadline = performance.now() + seconds * 1_000;
    const isOver = () => performance.now() >= deadline;
    const { differing, unread } = await verifyIndex(index, { isRepairing, bounds: { from, limit, isOver } });
    if (unread > 0 || (differing > 0 && !isRepairing)) process.exitCode = 1;
  });
}

function verifyIndex(
  index: ConfiguredIndex,
  { isRepairing, bounds }: { isRepairing: boolean; bounds: Parameters<typeof verifyState>[1] },
): Promise<Verification> {
  const { id, rpcUrls, maxAnswerBytes } = index;
  const log = silentLogger();
  const client = createChainClient({
    id,
    rpcUrls,
    timeoutMs: TIMEOUT_MS,
    maxAnswerBytes,
    clock: systemClock,
    log,
  });
  return withIndex(index, async (db, options) => {
    process.stdout.write(`index of chain ${id}, ${databaseName(options)}\n`);
    await client.verify();
    const verification = await verifyState({ db, client, onDifference: showDifference, isRepairing }, bounds);
    process.stdout.write(`  ${summaryOf(verification, isRepairing)}\n`);
    return verification;
  });
}

function showDifference({
  subject,
  indexed,
  expected,
}: Pick<StateDifference, 'subject' | 'indexed' | 'expected'>): void {
  process.stdout.write(`  ${subject}: ${indexed} in the index, ${expected}\n`);
}

function summaryOf({ checked, differing, unread, next }: Verification, isRepairing: boolean): string {
  const repaired = isRepairing && differing > 0 ? ', which are read or counted again now' : '';
  const silent = unread === 0 ? '' : `, ${unread} that the node did not give`;
  const rest = next === null ? '' : `; go on with --from ${next}`;
  return `${checked} values compared, ${differing} differ${repaired}${silent}${rest}`;
}
