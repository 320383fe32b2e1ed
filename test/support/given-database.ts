import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Db, openDatabase } from '#db/open.ts';
import type { Mode, Owner } from '#payments/model/owner.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { anOrganization } from '../lab/payments-records.ts';
import type { TestDatabases, TestTemplate } from './databases.ts';

/** Two connections to one database. Its members can only be read in tests and hooks. */
export interface GivenConnections {
  readonly db: Db;
  /** A second connection, as of another process. */
  readonly other: Db;
}

interface GivenOptions {
  /** True for one database per suite, false for one per test. */
  readonly isShared: boolean;
  readonly template?: TestTemplate;
  /** Fills a new database. */
  prepare?(db: Db): Promise<unknown>;
}

/** Sets up databases, empty without a template, and closes their connections. */
export function givenConnections(
  databases: TestDatabases,
  { isShared, template, prepare }: GivenOptions,
): GivenConnections {
  let db: Db;
  let other: Db;

  (isShared ? beforeAll : beforeEach)(async () => {
    const options = await databases.create(template);
    db = openDatabase(options);
    other = openDatabase(options);
    await prepare?.(db);
  });
  (isShared ? afterAll : afterEach)(() => Promise.all([db.destroy(), other.destroy()]));

  return {
    get db() {
      return db;
    },
    get other() {
      return other;
    },
  };
}

/** A payments database and an organization in it. */
export interface GivenDatabase extends GivenConnections {
  /** An organization in one mode, used by no other test. */
  readonly owner: Owner;
  /** Inserts another organization, in the same mode. */
  newOwner(): Promise<Owner>;
}

/** Sets up a payments database per suite or per test. */
export function givenDatabase(
  databases: TestDatabases,
  { isShared, mode = 'live' }: { isShared: boolean; mode?: Mode },
): GivenDatabase {
  const given = givenConnections(databases, { isShared, template: 'payments' });
  const newOwner = () => insertOwner(given.db, mode);
  let owner: Owner;

  beforeEach(async () => {
    owner = await newOwner();
  });

  return {
    get db() {
      return given.db;
    },
    get other() {
      return given.other;
    },
    get owner() {
      return owner;
    },
    newOwner,
  };
}

/** Inserts an organization; returns it as an owner in a mode. */
export async function insertOwner(db: Db, mode: Mode = 'live'): Promise<Owner> {
  const organization = anOrganization();
  await organizationStore(db).insert(organization);
  return { organizationId: organization.id, mode };
}
