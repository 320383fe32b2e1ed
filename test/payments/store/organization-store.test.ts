import { expect } from 'vitest';
import { organizationStore } from '#payments/store/organization-store.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';

eachPaymentsDatabase('the organizations', test => {
  test('are found unchanged by id and by name', async ({ db }) => {
    const plain = anOrganization();
    const furnished = anOrganization({
      tier: 'elevated',
      defaults: {
        chainId: Number.MAX_SAFE_INTEGER,
        tokenAddress: `0x${'0'.repeat(40)}`,
        recipientAddress: `0x${'ab'.repeat(20)}`,
      },
    });
    const store = organizationStore(db);

    await store.insert(plain);
    await store.insert(furnished);

    expect(await store.find(plain.id)).toEqual(plain);
    expect(await store.find(furnished.id)).toEqual(furnished);
    expect(await store.findByName(furnished.name)).toEqual(furnished);
    expect(await store.find('org_missing')).toBeUndefined();
    expect(await store.findByName(furnished.name.toUpperCase())).toBeUndefined();
  });

  test('are all listed, by name', async ({ db }) => {
    const store = organizationStore(db);
    const [zebra, aunt, corner] = ['Zebra', 'Äunt', 'Corner'].map(name => anOrganization({ name }));
    for (const organization of [zebra, aunt, corner]) if (organization) await store.insert(organization);

    expect(await store.list()).toEqual([corner, zebra, aunt]);
  });

  test('never share a name', async ({ db }) => {
    const store = organizationStore(db);
    await store.insert(anOrganization({ name: 'Acme' }));

    await expect(store.insert(anOrganization({ name: 'Acme' }))).rejects.toSatisfy(error => {
      expect(db.dialect.violatedColumns(error)).toEqual(['name']);
      return true;
    });
  });
});
