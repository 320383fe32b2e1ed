import { isObject } from '#lib/json.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError, isOfKind } from '../port/backend-error.ts';
import type { InsightsAsk, InsightsOperationId } from '../port/insights-backend.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { type Fields, fieldsOf, listOf } from '../upstream-json/fields.ts';
import { eachInTurns, readRecord } from '../upstream-json/read-records.ts';
import { integerOrNull } from '../upstream-json/values.ts';

/** One Insight service, as the back end of one or more chains. */
export interface ThirdwebSource {
  readonly name: string;
  readonly upstream: Upstream;
  readonly log: Logger;
}

/** Parameters in upstream's names; a name may repeat. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** Upstream request of an operation. */
export interface UpstreamGet {
  readonly operation: InsightsOperationId;
  /** Below `/v1`, with a leading slash. */
  readonly path: string;
  /** Parameters without the chains. */
  readonly parameters?: Parameters;
  readonly ask: InsightsAsk;
  /** Meaning of a 404. `nothing` when the contract defines none, so that only a chain or a path can be missing. */
  readonly missing?: 'the contract' | 'the name' | 'nothing';
}

/**
 * GETs a body about the chains of `ask` and normalises it.
 * @throws BackendError `unavailable` for an unreadable body, `unsupported` when it lacks one of several chains.
 */
export async function read<Result>(
  { upstream, log, name }: ThirdwebSource,
  { operation, path, parameters = [], ask, missing = 'nothing' }: UpstreamGet,
  normalise: (body: Fields) => Result | Promise<Result>,
): Promise<Result> {
  const { chainIds, signal } = ask;
  const query = new URLSearchParams();
  for (const id of chainIds) query.append('chain_id', String(id));
  for (const [parameter, value] of parameters) query.append(parameter, value);
  const { body } = await upstream
    .get(path, { query, signal, endpoint: operation })
    .catch((error: unknown) => {
      throw missed(error, missing);
    });
  return readRecord({ log, name, chainId: chainIds }, operation, () => {
    // An ABI is a bare list.
    const fields = Array.isArray(body) ? { data: body } : fieldsOf(body);
    checkComplete(fields, chainIds);
    return normalise(fields);
  });
}

function missed(error: unknown, missing: UpstreamGet['missing']): unknown {
  if (!isOfKind(error, 'not_found') || error.reason === 'unknown_name' || missing === 'the contract')
    return error;
  return missing === 'the name'
    ? new BackendError('not_found', 'unknown_name', 'it does not know this name', { cause: error })
    : new BackendError('unsupported', 'no_such_answer', 'it has no such answer', { cause: error });
}

/**
 * Checks that all chains are in the answer. Upstream reports failed chains only in `meta`. The error is `unsupported`
 * for several chains, because the caller then asks about each one alone.
 */
function checkComplete({ meta }: Fields, chainIds: readonly number[]): void {
  if (!isObject(meta)) return;
  const answered = listOf(meta.chain_ids).map(integerOrNull);
  const failed = listOf(meta.failed_chain_ids).map(integerOrNull);
  const isMissing = (id: number) =>
    failed.includes(id) || (!answered.includes(id) && (answered.length > 0 || chainIds.length > 1));
  if (!Array.isArray(meta.chain_ids) || !chainIds.some(isMissing)) return;
  const kind = chainIds.length > 1 ? 'unsupported' : 'unavailable';
  throw new BackendError(kind, 'incomplete', 'its answer lacks a chain');
}

/** Reads the records of a body. Upstream writes nothing or null for an empty list. @throws UnreadableRecord */
export async function recordsOf<Record>(
  { data }: Fields,
  normalise: (value: unknown) => Record,
  { signal }: InsightsAsk,
): Promise<Record[]> {
  return eachInTurns(data, normalise, { signal, name: 'data' });
}

/** Returns the first rows of each chain. A service may ignore the limit and the requested chains. */
export function firstOfChains<Row extends { readonly chain_id: number | string }>(
  rows: readonly Row[],
  { chainIds, limit }: { chainIds: readonly number[]; limit: number },
): Row[] {
  const left = new Map(chainIds.map(id => [id, limit]));
  return rows.filter(({ chain_id }) => {
    const id = Number(chain_id);
    const more = left.get(id) ?? 0;
    left.set(id, more - 1);
    return more > 0;
  });
}

/** True for a name. Addresses begin with `0x`. */
export function isName(address: string): boolean {
  return !address.startsWith('0x');
}

/** Escapes a text so that it stays one path segment. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}
