import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Db, openDatabase } from '#db/open.ts';
import type { Mode, Owner } from '#payments/model/owner.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import type { TestDatabases } from './databases.ts';
import { anOrganization } from './payments-records.ts';

/** A payments database and an organization in it. Its members can be read in tests and hooks only. */
export interface GivenDatabase {
  readonly db: Db;
  /** A second connection, as another process has it. */
  readonly other: Db;
  /** An organization, in one mode, that no other test has. */
  readonly owner: Owner;
  /** Inserts one more organization, of the same mode. */
  newOwner(): Promise<Owner>;
}

/** Sets up a payments database that the tests of a suite share, or one for each of them. */
export function givenDatabase(
  databases: TestDatabases,
  { isShared, mode = 'live' }: { isShared: boolean; mode?: Mode },
): GivenDatabase {
  let db: Db;
  let other: Db;
  let owner: Owner;
  const newOwner = () => insertOwner(db, mode);
  const open = async () => {
    const options = await databases.create('payments');
    db = openDatabase(options);
    other = openDatabase(options);
  };
  const close = () => Promise.all([db.destroy(), other.destroy()]);

  (isShared ? beforeAll : beforeEach)(open);
  (isShared ? afterAll : afterEach)(close);
  beforeEach(async () => {
    owner = await newOwner();
  });

  return {
    get db() {
      return db;
    },
    get other() {
      return other;
    },
    get owner() {
      return owner;
    },
    newOwner,
  };
}

/** Inserts an organization, and answers with its mode. */
export async function insertOwner(db: Db, mode: Mode = 'live'): Promise<Owner> {
  const organization = anOrganization();
  await organizationStore(db).insert(organization);
  return { organizationId: organization.id, mode };
}
