import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { Refused } from '#lib/command-line.ts';
import { newId } from '#lib/ids.ts';
import { type ApiKey, isActiveKey } from '#payments/keys/api-key.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { issueKey } from '#payments/keys/issue-key.ts';
import type { Organization } from '#payments/model/owner.ts';
import type { PaymentChain } from '#payments/model/payment-chain.ts';
import { openSeals, reseal } from '#payments/secrets/key-rotation.ts';
import type { SecretKeySource } from '#payments/secrets/secret-key.ts';
import { secretKeyStore } from '#payments/secrets/secret-key-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { type Command, namedOrganization, type Printed } from './command-line.ts';
import { linkDefaults } from './link-terms.ts';
import { runRecipientCommand } from './recipients.ts';

const PAGE = 100;
const MODES = ['live', 'test'] as const;

/** Part of the configuration that commands use. `now` is UTC ms. */
export interface RunContext {
  readonly chains: readonly PaymentChain[];
  readonly secretKey: SecretKeySource;
  readonly now: number;
}

/** Runs a parsed command. @throws Refused, or UsageError for impossible link defaults */
export function runCommand(
  db: Db,
  command: Command,
  { chains, secretKey, now }: RunContext,
): Promise<Printed> {
  switch (command.kind) {
    case 'create-org':
      return createOrganization(db, {
        ...command,
        defaults: linkDefaults(command.terms, chains),
        createdAt: now,
      });
    case 'create':
      return createKey(db, command, now);
    case 'list':
      return command.organization === undefined
        ? listOrganizations(db)
        : listKeys(db, command.organization, now);
    case 'revoke':
      return revokeKey(db, command.keyId, now);
    case 'reseal':
      return resealAll(db, command.abandoned, secretKey);
    case 'recipient':
      return runRecipientCommand(db, command.given, { chains, now });
  }
}

function createOrganization(
  db: Db,
  { name, tier, defaults, createdAt }: Omit<Organization, 'id'>,
): Promise<Printed> {
  return transaction(db, async handle => {
    const organizations = organizationStore(handle);
    if ((await organizations.findByName(name)) !== undefined) {
      throw new Refused(`there is an organization ${name} already`);
    }
    const id = newId('org');
    await organizations.insert({ id, name, tier, defaults, createdAt });
    return { lines: [id] };
  });
}

function createKey(
  db: Db,
  { organization, ...draft }: Extract<Command, { kind: 'create' }>,
  now: number,
): Promise<Printed> {
  return transaction(db, async handle => {
    const { id: organizationId } = await namedOrganization(handle, organization);
    const { key, secret } = await issueKey(handle, { ...draft, organizationId }, now);
    const kind = `${key.mode} key ${key.id} with the permission ${key.permission}`;
    return { lines: [secret], remarks: [`This is the ${kind}. It is shown once and kept nowhere.`] };
  });
}

async function listOrganizations(db: Db): Promise<Printed> {
  const all = await organizationStore(db).list();
  return { lines: all.map(({ id, tier, name }) => [id, tier, name].join('  ')) };
}

async function listKeys(db: Db, nameOrId: string, now: number): Promise<Printed> {
  const { id } = await namedOrganization(db, nameOrId);
  const keys: ApiKey[] = [];
  for (let page = 1, hasMore = true; hasMore; page++) {
    const part = await apiKeyStore(db).list(id, MODES, { page, limit: PAGE });
    keys.push(...part.data);
    hasMore = part.hasMore;
  }
  return { lines: keys.map(key => described(key, now)) };
}

function described(key: ApiKey, now: number): string {
  const { id, mode, permission, prefix, lastFour, expiresAt, revokedAt, lastUsedAt, name } = key;
  const end =
    expiresAt === null ? '' : ` ${isActiveKey(key, now) ? 'until' : 'since'} ${timeText(expiresAt)}`;
  const active = isActiveKey(key, now) ? `active${end}` : `expired${end}`;
  const state = revokedAt === null ? active : `revoked since ${timeText(revokedAt)}`;
  const use = lastUsedAt === null ? 'never used' : `last used ${timeText(lastUsedAt)}`;
  return [id, mode, permission.padEnd(5), `${prefix}…${lastFour}`, state, use, name].join('  ');
}

/** Revokes a key, even the last admin key of a mode: this command can create another one. */
function revokeKey(db: Db, keyId: string, now: number): Promise<Printed> {
  return transaction(db, async handle => {
    const keys = apiKeyStore(handle);
    for (const { id, name } of await organizationStore(handle).list()) {
      if ((await keys.find(id, MODES, keyId)) === undefined) continue;
      const isNew = await keys.revoke(keyId, now);
      const remark = isNew
        ? `Revoked; it was a key of ${name}.`
        : `It was revoked before; it is a key of ${name}.`;
      return { lines: [keyId], remarks: [remark] };
    }
    throw new Refused(`there is no key ${keyId}`);
  });
}

async function resealAll(
  db: Db,
  abandoned: string | undefined,
  secretKey: SecretKeySource,
): Promise<Printed> {
  if (abandoned !== undefined && !(await secretKeyStore(db).needed()).includes(abandoned)) {
    throw new Refused(`the database needs no key of fingerprint ${abandoned}`);
  }
  const seals = await openSeals(db, secretKey, { abandoned });
  const { moved, unopened, remaining } = await reseal(db, seals);
  const [current, ...older] = seals.keyIds;
  const unneeded = older.filter(id => !remaining.includes(id));
  return {
    lines: [`${moved} values moved to the key of fingerprint ${current}`],
    remarks: [
      ...unneeded.map(id => `The key of fingerprint ${id} opens nothing any more and can be removed.`),
      ...remaining.map(id => `The key of fingerprint ${id} still seals values.`),
      ...(unopened === 0 ? [] : [`${unopened} values do not open with any configured key.`]),
    ],
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
