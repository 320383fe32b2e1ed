import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { timestamp } from '#lib/clock.ts';
import type { ApiHandlers, PaymentsContext } from '../api/gate/api-context.ts';
import { pagedList, periodOf } from '../api/responses/answers.ts';
import type { AuditEvent } from './audit-event.ts';
import { auditStore } from './audit-store.ts';

/** Operation that lists the audit log (Decision 429). */
export function auditHandlers({ db }: Pick<PaymentsContext, 'db'>) {
  return {
    async listAuditEvents({ query: { type, resource_id, actor, page, limit, ...period } }, caller) {
      const filters = { type, resourceId: resource_id, actor, ...periodOf(period) };
      const events = await auditStore(db).list(caller, filters, { page, limit });
      return { status: 200, body: pagedList('/api/v1/audit-events', events, auditBody) };
    },
  } satisfies ApiHandlers;
}

function auditBody(event: AuditEvent): PaymentsSchemas['AuditEvent'] {
  const { id, mode, type, resourceId, actor, address, method, path, status, createdAt } = event;
  const isRequest = actor !== 'operator';
  return {
    object: 'audit_event',
    id,
    mode,
    type,
    resource_id: resourceId,
    actor,
    address: isRequest ? address : null,
    method: isRequest ? method : null,
    path,
    status: isRequest ? status : null,
    created_at: timestamp(createdAt),
  };
}
