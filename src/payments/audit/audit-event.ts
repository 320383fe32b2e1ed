import type { OperationRow } from '#contract/contracts/operations.ts';
import { decodeSegment } from '../../contract/mount/parameters.ts';
import type { Actor, Mode, Owner } from '../model/owner.ts';

/** Record of a change: who made it, when and from where. It never holds a value of the request. */
export interface AuditEvent extends Owner {
  readonly id: string;
  /** Kind of the changed record and what was done, such as `payment_link.create`. */
  readonly type: string;
  /** Id of the changed record; null where it has none. */
  readonly resourceId: string | null;
  /** Key, member or operator that made the change. */
  readonly actor: Actor;
  /** Address of the client; empty for a command, as the method is. */
  readonly address: string;
  readonly method: string;
  /** Path without its query, or the command. */
  readonly path: string;
  /** 0 for a command. */
  readonly status: number;
  /** UTC milliseconds. */
  readonly createdAt: number;
}

const BY_METHOD: Readonly<Record<string, string>> = { post: 'create', patch: 'update', delete: 'delete' };
/** Segments before the name of the resource. */
const PREFIXES: readonly string[] = ['', 'api', 'v1', 'dashboard', 'test'];

/**
 * Type of the change that an operation makes. It follows from its method and path: `POST /payment-links` creates, a word
 * behind an id or at the end of a list's path names the action: `POST /checkout-sessions/{id}/accept`.
 */
export function auditTypeOf({ method, path }: Pick<OperationRow, 'method' | 'path'>): string {
  const segments = path.split('/').filter(one => !PREFIXES.includes(one));
  const [collection = ''] = segments;
  const last = segments.at(-1) ?? '';
  const isAction = segments.length > 1 && !last.startsWith('{');
  const action = isAction ? last : (BY_METHOD[method] ?? method);
  return `${wordOf(singular(collection))}.${wordOf(action)}`;
}

/**
 * Modes that a change concerns, if they differ from that of the caller: members and their passkeys belong to both, and a
 * live key creates keys of test mode too.
 */
export function changedModes(operationPath: string, body: unknown): readonly Mode[] | undefined {
  if (['/dashboard/members', '/dashboard/passkeys'].some(start => operationPath.startsWith(start)))
    return ['live', 'test'];
  if (!operationPath.startsWith('/api/v1/api-keys')) return undefined;
  const mode = fieldOf(body, 'mode');
  return mode === 'live' || mode === 'test' ? [mode] : undefined;
}

/** Id that the path names last, decoded as the operation reads it, or that of the record in the body. */
export function resourceIdOf(operationPath: string, path: string, body: unknown): string | null {
  const given = path.split('/');
  const index = operationPath.split('/').findLastIndex(one => one.startsWith('{'));
  const named = index === -1 ? undefined : given[index];
  if (named !== undefined) return decodeSegment(named);
  return [body, fieldOf(body, 'data'), fieldOf(body, 'member')].map(idIn).find(Boolean) ?? null;
}

function idIn(record: unknown): string | undefined {
  const id = fieldOf(record, 'id');
  return typeof id === 'string' ? id : undefined;
}

function fieldOf(record: unknown, name: string): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, name) : undefined;
}

function singular(collection: string): string {
  return collection.replace(/(?<!addres)s$/, '').replace(/addresse$/, 'address');
}

function wordOf(segment: string): string {
  return segment.replaceAll('-', '_');
}
