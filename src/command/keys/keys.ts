import { resolve } from 'node:path';
import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import type { DatabaseOptions, Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import { Refused, UsageError } from '#lib/command-line.ts';
import { newId } from '#lib/ids.ts';
import { CannotStart, withLocation } from '#lib/startup-error.ts';
import { recordOperatorChange } from '#payments/audit/operator-changes.ts';
import { rehashCustomers } from '#payments/customers/rehash-customers.ts';
import { paymentsServiceOptions } from '#payments/from-config.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { issueKey } from '#payments/keys/issue-key.ts';
import { ownerAddress } from '#payments/members/owner-address.ts';
import { signInUrl } from '#payments/members/sign-in-address.ts';
import type { Organization } from '#payments/model/owner.ts';
import type { PaymentChain } from '#payments/model/payment-chain.ts';
import { openPaymentsDatabase } from '#payments/open-store.ts';
import { openSeals, reseal } from '#payments/secrets/key-rotation.ts';
import type { SecretKeySource } from '#payments/secrets/secret-key.ts';
import { secretKeyStore } from '#payments/secrets/secret-key-store.ts';
import { organizationSettingsStore, organizationStore } from '#payments/store/organization-store.ts';
import {
  type Command,
  type CommandLine,
  namedOrganization,
  type Printed,
  parseCommandLine,
} from './command-line.ts';
import { listKeys, listOrganizations } from './key-lists.ts';
import { linkDefaults } from './link-terms.ts';
import { runRecipientCommand } from './recipients.ts';

const USAGE = `Usage: tollgate keys COMMAND [options]

  create-org NAME          creates an organization and prints its id
    --recipient ADDRESS    default recipient of its payment links
    --chain ID             default chain of its payment links
    --token ADDRESS|SYMBOL default token of its payment links; needs --chain
    --tier elevated        lets its keys send more requests per minute
  create --org NAME_OR_ID  creates an API key and prints it, once
    --mode live|test       for real or for test money; test when absent
    --permission read|write|admin
                           its rights; admin when absent
    --name TEXT            its purpose
    --expires TIME         time at which it expires: 2031-01-01T00:00:00Z
  list [--org NAME_OR_ID]  prints the keys of an organization, or the organizations
  revoke KEY_ID            revokes a key at once
  owner-link --org NAME_OR_ID
                           prints an address that signs an owner of an organization in to the dashboard, once and
                           within 15 minutes; creates the owner when there is none
    --email ADDRESS        e-mail address of the owner; the oldest owner when absent
    --name TEXT            name of a new owner
  reseal                   encrypts all secrets with the newest secret key; the service may keep running
    --abandon FINGERPRINT  gives up the secrets that only this lost key opens, so that the service starts without it
  recipient list           prints the recipient addresses and the owner of each
    [--org NAME_OR_ID] [--chain ID]
  recipient assign ADDRESS --chain ID --org NAME_OR_ID
                           makes an organization the owner of an address, regardless of signatures
    --mode live|test       of a chain that is not configured; test when absent
  recipient release ADDRESS --chain ID
                           withdraws the proof of the owner, so that a signature decides again

  --config FILE            the configuration; without one, TOLLGATE_CONFIG or the default
  --database URL           sqlite:FILE or postgres://…; that of the configuration when absent
  --help                   print this
`;

const UNUSED =
  'Without configured chains the service keeps its payments in the folder of each run, not in this database.';

/**
 * Manages organizations, their API keys, the owners of recipient addresses and the encryption of stored secrets, in the
 * database of the payments service. Standard output has only the results.
 * @throws UsageError, Refused, or the errors of a start
 */
export async function runKeys(args: readonly string[]): Promise<void> {
  const now = systemClock.now();
  const line = parseCommandLine(args, now);
  if (line === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const { database, chains, secretKey, dashboardUrl, remark, worded } = configuredDatabase(line);
  if (remark !== undefined) process.stderr.write(`${remark}\n`);
  // Migrates to the newest schema, so that keys can be created before the first start of the service.
  const db = await openPaymentsDatabase(database).catch(error => {
    throw worded(error);
  });
  try {
    const { lines, remarks = [] } = await runKeysCommand(db, line.command, {
      chains,
      secretKey,
      dashboardUrl,
      now,
    });
    for (const one of lines) process.stdout.write(`${one}\n`);
    for (const one of remarks) process.stderr.write(`${one}\n`);
  } finally {
    await db.destroy();
  }
}

function configuredDatabase({ configFile, database }: CommandLine) {
  const { variables } = readEnvironment();
  const config = loadConfig({ env: variables, file: configFile });
  const options = paymentsServiceOptions(config, { embedded: undefined, dataUrl: undefined });
  const { chains, secretKey, host, port } = options;
  const dashboardUrl = options.publicUrl ?? `http://${new URL(`http://${host}`).host}:${port}`;
  if (database !== undefined) {
    // The address is from the command line, so the message must not blame a setting.
    const worded = (error: unknown) => (error instanceof CannotStart ? new Refused(error.message) : error);
    return { database: databaseAt(database), chains, secretKey, dashboardUrl, worded };
  }
  const isUnused = config.chains.length === 0 && config.payments.hasDefaultDatabase;
  const worded = (error: unknown) => withLocation(error, config.locationOf);
  const remark = isUnused ? UNUSED : undefined;
  return { database: options.database, chains, secretKey, dashboardUrl, worded, remark };
}

function databaseAt(url: string): DatabaseOptions {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: 'postgres', url };
  const [, file] = /^sqlite:(.+)$/.exec(url) ?? [];
  if (file === undefined || file === ':memory:') {
    throw new UsageError('--database takes sqlite:FILE or postgres://…');
  }
  return { file: resolve(file) };
}

const MODES = ['live', 'test'] as const;

/** Part of the configuration that commands use. `now` is UTC ms. */
interface RunContext {
  readonly chains: readonly PaymentChain[];
  readonly secretKey: SecretKeySource;
  /** Base URL of the dashboard, without a slash at the end. */
  readonly dashboardUrl: string;
  readonly now: number;
}

/** Runs a parsed command. @throws Refused, or UsageError for impossible link defaults */
export function runKeysCommand(
  db: Db,
  command: Command,
  { chains, secretKey, dashboardUrl, now }: RunContext,
): Promise<Printed> {
  switch (command.kind) {
    case 'create-org':
      return createOrganization(db, {
        ...command,
        defaults: linkDefaults(command.terms, chains),
        chains,
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
    case 'owner-link':
      return printOwnerLink(db, command, { dashboardUrl, now });
  }
}

function createOrganization(
  db: Db,
  { name, tier, defaults, createdAt, chains }: Omit<Organization, 'id'> & Pick<RunContext, 'chains'>,
): Promise<Printed> {
  const chain = chains.find(({ id }) => id === defaults.chainId);
  return transaction(db, async handle => {
    const organizations = organizationStore(handle);
    if ((await organizations.findByName(name)) !== undefined) {
      throw new Refused(`there is an organization ${name} already`);
    }
    const id = newId('org');
    // A chain belongs to one mode, so it is no default of the other one. A recipient may be one of both.
    const { recipientAddress } = defaults;
    const ofBothModes =
      chain === undefined ? defaults : { chainId: null, tokenAddress: null, recipientAddress };
    await organizations.insert({ id, name, tier, defaults: ofBothModes, createdAt });
    if (chain !== undefined) {
      const settings = organizationSettingsStore(handle);
      const before = await settings.find({ organizationId: id, mode: chain.mode });
      await settings.save({ ...before, defaults: { ...defaults, recipientAddress: null } });
    }
    const change = { organizationId: id, modes: MODES, type: 'organization.create', resourceId: id };
    await recordOperatorChange(handle, { ...change, command: 'tollgate keys create-org' }, createdAt);
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
    const change = { organizationId, modes: [key.mode], type: 'api_key.create', resourceId: key.id };
    await recordOperatorChange(handle, { ...change, command: 'tollgate keys create' }, now);
    const kind = `${key.mode} key ${key.id} with the permission ${key.permission}`;
    return { lines: [secret], remarks: [`This is the ${kind}. It is shown once and kept nowhere.`] };
  });
}

function printOwnerLink(
  db: Db,
  { organization, email, name }: Extract<Command, { kind: 'owner-link' }>,
  { dashboardUrl, now }: Pick<RunContext, 'dashboardUrl' | 'now'>,
): Promise<Printed> {
  return transaction(db, async handle => {
    const { id: organizationId, name: shop } = await namedOrganization(handle, organization);
    const { owner, isNew, token } = await ownerAddress(handle, { organizationId, email, name }, now);
    const change = {
      organizationId,
      modes: MODES,
      resourceId: owner.id,
      command: 'tollgate keys owner-link',
    };
    if (isNew) await recordOperatorChange(handle, { ...change, type: 'member.create' }, now);
    await recordOperatorChange(handle, { ...change, type: 'member.sign_in_address' }, now);
    const who = [owner.name, ...(owner.email === null ? [] : [`<${owner.email}>`])].join(' ');
    return {
      lines: [signInUrl(dashboardUrl, token)],
      remarks: [
        `It signs ${who}, ${isNew ? 'now an' : 'an'} owner of ${shop}, in to the dashboard: once, within 15 minutes.`,
      ],
    };
  });
}

/** Revokes a key, even the last admin key of a mode: this command can create another one. */
function revokeKey(db: Db, keyId: string, now: number): Promise<Printed> {
  return transaction(db, async handle => {
    const keys = apiKeyStore(handle);
    for (const { id, name } of await organizationStore(handle).list()) {
      const key = await keys.find(id, MODES, keyId);
      if (key === undefined) continue;
      const isNew = await keys.revoke(keyId, now);
      const change = { organizationId: id, modes: [key.mode], type: 'api_key.delete', resourceId: keyId };
      if (isNew) await recordOperatorChange(handle, { ...change, command: 'tollgate keys revoke' }, now);
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
  await rehashCustomers(db, seals);
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
