import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationRow } from '#contract/contracts/operations.ts';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { paymentsErrorBody } from '#contract/contracts/payments-errors.ts';
import { mountGated } from '#contract/mount/mount.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { HttpError } from '#http/errors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import type { AnonymousCaller, ApiCaller } from '#payments/api/gate/api-context.ts';
import { paymentsGate } from '#payments/api/gate/gate.ts';
import { rateLimits } from '#payments/api/gate/rate-limits.ts';
import { auditTrail } from '#payments/audit/audit-trail.ts';
import { PERMISSIONS, type Permission } from '#payments/keys/api-key.ts';
import { issueKey } from '#payments/keys/issue-key.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { type Served, serve } from '../../http/serve.ts';
import { sqliteDatabase, type TestDatabase } from '../../support/databases.ts';

const OPERATIONS: readonly OperationRow[] = Object.values(paymentsContract.table);
const KEYED = OPERATIONS.filter(({ security }) => security.length > 0);
const OPEN = OPERATIONS.filter(({ security }) => security.length === 0);

/** Keys, the deposit seed, the audit log, erasing customers, and changes of the organization are for admins. Other reads need `read`, other changes `write`. */
function neededBy({ path, method }: OperationRow): Permission {
  if (/^\/api\/v1\/(api-keys|audit-events)/.test(path) || path.endsWith('/seed')) return 'admin';
  if (method === 'get') return 'read';
  return /^\/api\/v1\/(organization|recipients|webhooks|notifications|customers)/.test(path)
    ? 'admin'
    : 'write';
}

let database: TestDatabase;
let db: Db;
let served: Served;
const secrets = new Map<Permission, string>();

/** Every handler answers only that a request has reached it. */
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  db = openDatabase(database.options);
  const now = systemClock.now();
  const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
  const organization = { id: 'org_a', name: 'A', tier: 'standard', defaults, createdAt: now } as const;
  await organizationStore(db).insert(organization);
  for (const permission of PERMISSIONS) {
    const draft = {
      organizationId: 'org_a',
      mode: 'test',
      name: permission,
      permission,
      expiresAt: null,
    } as const;
    secrets.set(permission, (await issueKey(db, draft, now)).secret);
  }
  const reached = async () => {
    throw new HttpError(418, 'reached');
  };
  const route = await mountGated<Record<string, unknown>, never, ApiCaller, AnonymousCaller>({
    contract: paymentsContract,
    handlers: Object.fromEntries(OPERATIONS.map(({ id }) => [id, reached])),
    gate: paymentsGate({
      db,
      seals: seals(['a secret that seals nothing but what tests keep']),
      clock: systemClock,
      counts: rateLimits(db, { standard: 1e6, elevated: 1e6 }),
      trail: auditTrail(systemClock),
      log: createLogger({ level: 'silent' }),
    }),
    validateResponses: false,
  });
  served = await serve([route], { formatError: paymentsErrorBody });
});
afterAll(async () => {
  await served.close(0);
  await db.destroy();
  await database.remove();
});

async function ask({ method, path }: OperationRow, key?: string) {
  const response = await fetch(served.url + path.replaceAll(/\{[^}]+\}/g, 'x'), {
    method: method.toUpperCase(),
    headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
  });
  const { error }: { error: { code: string; message: string; type: string } } = JSON.parse(
    await response.text(),
  );
  return { status: response.status, ...error };
}

/** Statuses after the permission check: an invalid request, or the handler's answer. */
const PASSED = [400, 418];

describe.each(KEYED.map(row => [row.id, row] as const))('%s', (_id, row) => {
  const needed = neededBy(row);

  test(`needs a key with the permission ${needed} or more`, async () => {
    for (const permission of PERMISSIONS) {
      const answer = await ask(row, secrets.get(permission));
      const isEnough = PERMISSIONS.indexOf(needed) <= PERMISSIONS.indexOf(permission);
      if (isEnough) expect(PASSED).toContain(answer.status);
      else {
        expect(answer).toEqual({
          status: 403,
          type: 'permission_error',
          code: 'insufficient_permissions',
          message: `This API key does not have '${needed}' permission.`,
        });
      }
    }
  });

  test('is refused without a key', async () => {
    expect(await ask(row)).toMatchObject({ status: 401, code: 'key_missing' });
  });
});

test.each(OPEN.map(row => [row.id, row] as const))(
  '%s needs no key and ignores any key',
  async (_id, row) => {
    for (const key of [undefined, 'no key', secrets.get('admin')]) {
      expect(PASSED).toContain((await ask(row, key)).status);
    }
  },
);
