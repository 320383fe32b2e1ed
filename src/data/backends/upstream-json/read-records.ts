import { yieldTurn } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { at, listOf, UnreadableRecord } from './fields.ts';

/** Back end whose records are read, with the fields that the log shows. */
interface RecordSource {
  readonly log: Logger;
  readonly name: string;
  readonly chainId: number | readonly number[];
}

/**
 * Runs `normalise` on an upstream's body and logs the path of an unreadable value.
 * @throws BackendError `unavailable` for an unreadable body. An incomplete record is never returned.
 */
export async function readRecord<Record>(
  { log, name, chainId }: RecordSource,
  operation: string,
  normalise: () => Record | Promise<Record>,
): Promise<Record> {
  try {
    return await normalise();
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    log.warn({ operation, chainId, backend: name, path: error.path }, 'the record is unreadable');
    throw new BackendError('unavailable', 'unreadable', 'its answer could not be read', { cause: error });
  }
}

interface ListReading {
  readonly signal: AbortSignal;
  /** Name of the list in its body, for the paths of errors. */
  readonly name?: string;
  /** Called for each record that is left out. Without it, an unreadable record makes the list unreadable. */
  readonly onLeftOut?: (error: UnreadableRecord) => void;
}

/** Records read before other requests get a turn. */
const RECORDS_A_TURN = 50;
/** Maximum number of records that are left out of a list for other faults than a number that is too large. */
const MAX_LEFT_OUT = 10;

/**
 * Reads each record of a list, with turns for other requests in between. A value that is no list counts as an empty one.
 * With `onLeftOut`, unreadable records are left out (Decisions 281 and 421), but none of another identity (Decision 70).
 * @throws UnreadableRecord with the position of a record; the signal's reason
 */
export async function eachInTurns<Item>(
  value: unknown,
  read: (item: unknown) => Item,
  { signal, name = '', onLeftOut }: ListReading,
): Promise<Item[]> {
  const list = listOf(value);
  const items: Item[] = [];
  let leftOut = 0;
  for (const [index, entry] of list.entries()) {
    if (index > 0 && index % RECORDS_A_TURN === 0) await yieldTurn(signal);
    try {
      items.push(at(name, index, () => at(index, entry, read)));
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || error.isMixedUp || onLeftOut === undefined) throw error;
      if (!error.isOversized) leftOut += 1;
      // A list of nothing but unreadable records is the answer of another service, or of a version not known here.
      if (leftOut > MAX_LEFT_OUT || leftOut === list.length) throw error;
      onLeftOut(error);
    }
  }
  return items;
}
