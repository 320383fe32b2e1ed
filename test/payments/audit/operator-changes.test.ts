import { expect } from 'vitest';
import type { Command } from '#command/keys/command-line.ts';
import { runKeysCommand } from '#command/keys/keys.ts';
import { auditStore } from '#payments/audit/audit-store.ts';
import { list, record } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { TEST_CHAIN } from '../../support/payments-api.ts';

eachPaymentsApi('commands of the operator', test => {
  test('are audit events of the organizations and modes that they change', async ({ api }) => {
    const shop = await api.merchant();
    const rival = await api.merchant();
    const secretKey = { kind: 'value' as const, value: 'a secret that seals nothing but what tests keep' };
    const run = (command: Command) => {
      api.clock.advance(1_000);
      const context = { chains: [], now: api.clock.now(), secretKey, dashboardUrl: 'http://pay.example' };
      return runKeysCommand(api.db, command, context);
    };
    const organization = shop.owner.organizationId;
    const assign = (to: string) =>
      run({
        kind: 'recipient',
        given: {
          action: 'assign',
          address: `0x${'5e'.repeat(20)}`,
          organization: to,
          chain: String(TEST_CHAIN),
          mode: undefined,
        },
      });

    await run({ kind: 'owner-link', organization, email: undefined, name: undefined });
    const draft = { permission: 'read', name: 'Till', expiresAt: null, mode: 'live' } as const;
    const { remarks = [] } = await run({ kind: 'create', organization, ...draft });
    const keyId = /ak_\w+/.exec(remarks.join())?.[0] ?? '';
    await run({ kind: 'revoke', keyId });
    await run({ kind: 'revoke', keyId });
    await assign(organization);
    await assign(rival.owner.organizationId);
    const terms = { recipient: undefined, chain: undefined, token: undefined };
    const made = await run({ kind: 'create-org', name: 'A third shop', tier: 'standard', terms });

    const typesOf = async (organizationId: string, mode: 'live' | 'test') => {
      const page = await auditStore(api.db).list({ organizationId, mode }, {}, { page: 1, limit: 20 });
      return page.data.map(({ type }) => type).sort();
    };
    expect(await typesOf(organization, 'live')).toEqual([
      'api_key.create',
      'api_key.delete',
      'member.create',
      'member.sign_in_address',
    ]);
    expect(await typesOf(organization, 'test')).toEqual([
      'member.create',
      'member.sign_in_address',
      'recipient.assign',
      'recipient.release',
    ]);
    expect(await typesOf(rival.owner.organizationId, 'test')).toEqual(['recipient.assign']);
    for (const mode of ['live', 'test'] as const)
      expect(await typesOf(made.lines[0] ?? '', mode)).toEqual(['organization.create']);
    const { body } = await shop.get('/api/v1/audit-events?type=recipient.release&actor=operator');
    expect(list(record(body).data)).toMatchObject([
      {
        actor: 'operator',
        path: 'tollgate keys recipient assign',
        address: null,
        method: null,
        status: null,
      },
    ]);
  });
});
