import type { Clock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import type { AuditTrail } from '../api/gate/recorded-commits.ts';
import { auditTypeOf, changedModes, resourceIdOf } from './audit-event.ts';
import { auditStore } from './audit-store.ts';

/** Records the changes of requests in the audit log (Decision 429). */
export function auditTrail(clock: Clock): AuditTrail {
  return ({ organizationId, mode, actor }, { operation, method, target, client }) => {
    const [path = ''] = target.split('?');
    return async (handle, { status, body }) => {
      for (const changed of changedModes(operation.path, body) ?? [mode])
        await auditStore(handle).insert({
          id: newId('aud'),
          organizationId,
          mode: changed,
          type: auditTypeOf(operation),
          resourceId: resourceIdOf(operation.path, path, body),
          actor,
          address: client.address,
          method,
          path,
          status,
          createdAt: clock.now(),
        });
    };
  };
}
