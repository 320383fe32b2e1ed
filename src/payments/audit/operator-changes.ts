import type { Transaction } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import type { Mode } from '../model/owner.ts';
import { auditStore } from './audit-store.ts';

/** A change that the operator made by a command. */
interface OperatorChange {
  readonly organizationId: string;
  /** Modes that the change concerns. */
  readonly modes: readonly Mode[];
  /** As in `AuditEvent`. */
  readonly type: string;
  readonly resourceId: string;
  /** Command without its options, which may hold values: `tollgate keys create`. */
  readonly command: string;
}

/**
 * Records a change that the operator made by a command, in its transaction and in each mode (Decision 429). `now` is UTC
 * milliseconds.
 */
export async function recordOperatorChange(
  handle: Transaction,
  { organizationId, modes, type, resourceId, command }: OperatorChange,
  now: number,
): Promise<void> {
  // A command has no address, method or status; the columns of these are never null.
  const absent = { address: '', method: '', status: 0 };
  for (const mode of modes)
    await auditStore(handle).insert({
      id: newId('aud'),
      organizationId,
      mode,
      type,
      resourceId,
      actor: 'operator',
      path: command,
      ...absent,
      createdAt: now,
    });
}
