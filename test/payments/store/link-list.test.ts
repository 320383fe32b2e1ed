import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test as plainTest } from 'vitest';
import { type Db, openDatabase } from '#db/open.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { type LinkList, linkStore } from '#payments/store/link-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { aLink, anOrganization } from '../../lab/payments-records.ts';
import { sqliteDatabase, type TestDatabase } from '../../support/databases.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { plansOf } from '../../support/query-plans.ts';

const SORTS = ['created_at', 'updated_at', 'name', 'current_uses'] as const;
const NEWEST: LinkList = { sort: 'created_at', order: 'desc' };
const ALL = { page: 1, limit: 100 };

eachPaymentsDatabase('a list of payment links', ownedTest => {
  const test = ownedTest
    .extend('inserted', ({ db }) => async (...links: PaymentLink[]) => {
      for (const link of links) await linkStore(db).insert(link);
      return links;
    })
    .extend('namesOf', ({ db, owner }) => async (list: Partial<LinkList>, page = ALL) => {
      const { data } = await linkStore(db).list(owner, { ...NEWEST, ...list }, page);
      return data.map(link => link.name);
    });

  test('is searched by name and short code, in any letter case, with % and _ taken literally', async ({
    owner,
    stranger,
    inserted,
    namesOf,
  }) => {
    await inserted(
      aLink(owner, { name: 'Espresso 100%', shortCode: 'aaaa' }),
      aLink(owner, { name: 'Tea', shortCode: 'xx-ESP_R' }),
      aLink(owner, { name: 'Bücher', shortCode: 'bbbb', isActive: false }),
      aLink(owner, { name: 'ΟΔΌΣ', shortCode: 'dddd' }),
      aLink(stranger, { name: 'Espresso of others', shortCode: 'cccc' }),
    );
    const found = async (search: string) => (await namesOf({ search, sort: 'name', order: 'asc' })).join();

    expect(await found('esp')).toBe('Espresso 100%,Tea');
    expect(await found('00%')).toBe('Espresso 100%');
    expect(await found('_')).toBe('Tea');
    expect(await found('e_p')).toBe('');
    expect(await found('BÜ')).toBe('Bücher');
    expect(await found('οδόσ')).toBe('ΟΔΌΣ');
    expect(await found('tea xx')).toBe('');
    expect(await found('100% aaaa')).toBe('');
    expect(await found('100%\naaaa')).toBe('');
    expect(await found('')).toBe('Bücher,Espresso 100%,Tea,ΟΔΌΣ');
    expect(await namesOf({ search: 'b', active: true })).toEqual([]);
    expect(await namesOf({ search: 'b', active: false })).toEqual(['Bücher']);
  });

  test('is sorted in every order, and equal links by id in the same direction', async ({
    db,
    owner,
    inserted,
  }) => {
    const small = fc.integer({ min: 0, max: 3 });
    const drafts = fc.array(fc.record({ created: small, updated: small, uses: small, name: small }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(drafts, async all => {
        await db.raw('delete from payment_links');
        const links = await inserted(
          ...all.map(({ created, updated, uses, name }) =>
            aLink(owner, {
              createdAt: created,
              updatedAt: updated,
              currentUses: uses,
              name: ['a', 'B', 'é', 'ab'][name] ?? '',
            }),
          ),
        );
        const keys = {
          created_at: (link: PaymentLink) => link.createdAt,
          updated_at: (link: PaymentLink) => link.updatedAt,
          current_uses: (link: PaymentLink) => link.currentUses,
          name: (link: PaymentLink) => link.name,
        };
        for (const sort of SORTS) {
          const ascending = links
            .toSorted((a, b) => compare(keys[sort](a), keys[sort](b)) || compare(a.id, b.id))
            .map(link => link.id);
          for (const order of ['asc', 'desc'] as const) {
            const page = await linkStore(db).list(owner, { sort, order }, ALL);
            const ids = page.data.map(link => link.id);
            expect(ids).toEqual(order === 'asc' ? ascending : ascending.toReversed());
          }
        }
      }),
      { numRuns: 10 },
    );
  });

  test('is paged, with each link once and the total count', async ({ db, owner, inserted }) => {
    const links = await inserted(...Array.from({ length: 7 }, (_, i) => aLink(owner, { createdAt: i })));
    const list = (page: number, limit: number, more: Partial<LinkList> = {}) =>
      linkStore(db).list(owner, { ...NEWEST, order: 'asc', ...more }, { page, limit });

    expect(await list(1, 3)).toEqual({ data: links.slice(0, 3), total: 7, hasMore: true });
    expect(await list(2, 3)).toEqual({ data: links.slice(3, 6), total: 7, hasMore: true });
    expect(await list(3, 3)).toEqual({ data: links.slice(6), total: 7, hasMore: false });
    expect(await list(1, 7)).toEqual({ data: links, total: 7, hasMore: false });
    expect(await list(4, 3)).toEqual({ data: [], total: 7, hasMore: false });
    expect(await list(Number.MAX_SAFE_INTEGER, 100)).toEqual({ data: [], total: 7, hasMore: false });
    expect(await list(1, 3, { search: 'nowhere' })).toEqual({ data: [], total: 0, hasMore: false });
    expect(await list(2, 3, { sort: 'name' })).toMatchObject({ total: 7, hasMore: true });
    expect(await list(3, 3, { sort: 'name' })).toMatchObject({ total: 7, hasMore: false });
    expect(await list(4, 3, { sort: 'name' })).toEqual({ data: [], total: 7, hasMore: false });
    expect(await list(1, 3, { sort: 'name', search: 'nowhere' })).toEqual({
      data: [],
      total: 0,
      hasMore: false,
    });
  });
});

describe('a list of payment links on SQLite', () => {
  let database: TestDatabase;
  let db: Db;
  let owner: Owner;

  beforeEach(async () => {
    database = await sqliteDatabase('payments');
    db = openDatabase(database.options);
    const organization = anOrganization();
    await organizationStore(db).insert(organization);
    owner = { organizationId: organization.id, mode: 'live' };
    for (let i = 0; i < 3; i++) await linkStore(db).insert(aLink(owner));
  });

  afterEach(async () => {
    await db.destroy();
    await database.remove();
  });

  plainTest.each(SORTS)(
    'by %s searches and counts in a covering index, and reads only the rows of its page',
    async sort => {
      const plans = await plansOf(db, () =>
        linkStore(db).list(
          owner,
          { search: 'coffee', active: true, sort, order: 'desc' },
          { page: 1, limit: 2 },
        ),
      );

      const reads = plans.filter(step => /^(SCAN|SEARCH) payment_links/.test(step)).toSorted();
      const ofIndex =
        'SEARCH payment_links USING COVERING INDEX payment_links_by_age (organization_id=? AND mode=?)';
      expect(reads).toEqual([
        // By age the page is found first, and the count is a statement of its own.
        ...(sort === 'created_at' ? [ofIndex, ofIndex] : [ofIndex]),
        'SEARCH payment_links USING INDEX sqlite_autoindex_payment_links_1 (id=?)',
      ]);
    },
  );
});

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}
