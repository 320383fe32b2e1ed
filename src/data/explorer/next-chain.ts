import { HttpError } from '../../http/errors.ts';
import type { Backend } from '../backends/port/backend.ts';
import type { PositionSets, Selection } from './selection.ts';

/** What could go on with a page walk: keys of the list, and the back ends that have it. */
interface WaysOn {
  readonly sets: PositionSets | undefined;
  readonly backends: readonly Backend[];
}

/** Adds to an outage in a page walk how the client gets on, where another back end of the chain has the list. */
export function withWayOn(
  failure: HttpError,
  { chains: [chain], walk }: Selection,
  { sets, backends }: WaysOn,
): HttpError {
  if (failure.status < 500 || walk === undefined || walk.isPortable) return failure;
  const hasOther = backends.some(({ name, chainId }) => chainId === chain?.id && name !== walk.writer);
  if (!hasOther) return failure;
  const way = sets === undefined ? 'begin again' : 'hand back all keys of next_page_params, or begin again';
  const { status, headers, message, cause } = failure;
  return new HttpError(status, `${message}. Another back end has this list: ${way}`, { headers, cause });
}
