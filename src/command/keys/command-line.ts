import type { parseArgs } from 'node:util';
import type { Handle } from '#db/open.ts';
import { didYouMean } from '#lib/broken-rule.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { isSingleLine } from '#lib/single-line.ts';
import { PERMISSIONS, type Permission } from '#payments/keys/api-key.ts';
import type { Mode, Organization, Tier } from '#payments/model/owner.ts';
import { organizationStore } from '#payments/store/organization-store.ts';

/** A parsed command. `organization` is a name or an id, and times are UTC milliseconds. */
export type Command =
  | { readonly kind: 'create-org'; readonly name: string; readonly tier: Tier; readonly terms: TermsGiven }
  | {
      readonly kind: 'create';
      readonly organization: string;
      readonly mode: Mode;
      readonly permission: Permission;
      readonly name: string;
      readonly expiresAt: number | null;
    }
  | { readonly kind: 'list'; readonly organization: string | undefined }
  | { readonly kind: 'revoke'; readonly keyId: string }
  | { readonly kind: 'reseal'; readonly abandoned: string | undefined }
  | { readonly kind: 'recipient'; readonly given: RecipientGiven }
  | {
      readonly kind: 'owner-link';
      readonly organization: string;
      /** In lower case. */
      readonly email: string | undefined;
      readonly name: string | undefined;
    };

/** A command about recipients, as typed. */
export interface RecipientGiven {
  readonly action: 'list' | 'assign' | 'release';
  /** Undefined for a list. */
  readonly address: string | undefined;
  readonly organization: string | undefined;
  readonly chain: string | undefined;
  /** Mode of a chain that is not configured. */
  readonly mode: Mode | undefined;
}

/** Defaults for the new links of an organization, as typed. */
export interface TermsGiven {
  readonly recipient: string | undefined;
  readonly chain: string | undefined;
  /** Address or symbol. */
  readonly token: string | undefined;
}

/** A command, and the configuration or database to run it on. */
export interface CommandLine {
  readonly command: Command;
  readonly configFile: string | undefined;
  readonly database: string | undefined;
}

const OPTIONS = {
  recipient: { type: 'string' },
  chain: { type: 'string' },
  token: { type: 'string' },
  tier: { type: 'string' },
  org: { type: 'string' },
  mode: { type: 'string' },
  permission: { type: 'string' },
  name: { type: 'string' },
  expires: { type: 'string' },
  email: { type: 'string' },
  abandon: { type: 'string' },
  config: { type: 'string' },
  database: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Fingerprint of a key, in the form that `seals()` gives it. */
const FINGERPRINT = /^[0-9a-f]{8}$/;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
type Option = keyof typeof OPTIONS;

/** Options of each command, in addition to those of all commands. */
const TAKEN: Readonly<Record<Command['kind'], readonly Option[]>> = {
  'create-org': ['recipient', 'chain', 'token', 'tier'],
  create: ['org', 'mode', 'permission', 'name', 'expires'],
  list: ['org'],
  revoke: [],
  reseal: ['abandon'],
  recipient: ['org', 'chain', 'mode'],
  'owner-link': ['org', 'email', 'name'],
};
const TAKEN_BY_ALL: readonly Option[] = ['config', 'database', 'help'];

const LONGEST_NAME = 100;
/** RFC 5321, 4.5.3.1.3. */
const LONGEST_EMAIL = 254;
const EMAIL = /^[^\s\p{C}<>()[\],;:"\\@]+@[^\s\p{C}<>()[\],;:"\\@]+$/u;
/** ISO 8601 with a time zone. Without a zone the moment is ambiguous. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads the arguments after the program's name; undefined when they request help. `now` is UTC ms.
 * @throws UsageError
 */
export function parseCommandLine(args: readonly string[], now: number): CommandLine | undefined {
  const { values, positionals } = readArguments(args, { options: OPTIONS, allowPositionals: true });
  if (values.help === true) return undefined;
  const [kind = '', ...subjects] = positionals;
  if (!isKind(kind)) throw noSuchCommand(kind);
  const taken: readonly string[] = [...TAKEN[kind], ...TAKEN_BY_ALL];
  const strange = Object.keys(values).find(option => !taken.includes(option));
  if (strange !== undefined) throw new UsageError(`${kind} takes no --${strange}`);
  const command = COMMANDS[kind](values, subjects, now);
  return { command, configFile: values.config, database: values.database };
}

function noSuchCommand(kind: string): UsageError {
  const meant = didYouMean(kind, Object.keys(COMMANDS));
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new UsageError(kind === '' ? 'a command is missing' : `there is no command ${kind}${advice}`);
}

type Reader = (values: Values, subjects: readonly string[], now: number) => Command;

const COMMANDS: Readonly<Record<Command['kind'], Reader>> = {
  'create-org': ({ recipient, chain, token, tier = 'standard' }, subjects) => ({
    kind: 'create-org',
    name: named(only(subjects, 'the name of the organization'), 'the name of the organization'),
    tier: oneOf(['standard', 'elevated'], tier, '--tier'),
    terms: { recipient, chain, token },
  }),
  create: (
    { org, mode = 'test', permission = 'admin', name = 'Made on the command line', expires },
    subjects,
    now,
  ) => {
    none(subjects);
    if (org === undefined) throw new UsageError('create needs --org');
    return {
      kind: 'create',
      organization: org,
      mode: oneOf(['live', 'test'], mode, '--mode'),
      permission: oneOf(PERMISSIONS, permission, '--permission'),
      name: named(name, '--name'),
      expiresAt: expires === undefined ? null : future(expires, now),
    };
  },
  list: ({ org }, subjects) => {
    none(subjects);
    return { kind: 'list', organization: org };
  },
  revoke: (_, subjects) => ({ kind: 'revoke', keyId: only(subjects, 'the id of a key') }),
  reseal: ({ abandon }, subjects) => {
    none(subjects);
    if (abandon !== undefined && !FINGERPRINT.test(abandon)) {
      throw new UsageError('--abandon takes the fingerprint of a key, 8 hexadecimal digits');
    }
    return { kind: 'reseal', abandoned: abandon };
  },
  recipient: ({ org, chain, mode }, [action = '', ...subjects]) => {
    const asked = oneOf(['list', 'assign', 'release'], action, 'recipient');
    if (asked === 'list') none(subjects);
    else if (chain === undefined) throw new UsageError(`recipient ${asked} needs --chain`);
    if (asked === 'assign' && org === undefined) throw new UsageError('recipient assign needs --org');
    if (asked === 'release' && org !== undefined) throw new UsageError('recipient release takes no --org');
    const given = {
      action: asked,
      address: asked === 'list' ? undefined : only(subjects, 'an address'),
      organization: org,
      chain,
      mode: mode === undefined ? undefined : oneOf(['live', 'test'], mode, '--mode'),
    };
    return { kind: 'recipient', given };
  },
  'owner-link': ({ org, email, name }, subjects) => {
    none(subjects);
    if (org === undefined) throw new UsageError('owner-link needs --org');
    return {
      kind: 'owner-link',
      organization: org,
      email: email === undefined ? undefined : emailOf(email),
      name: name === undefined ? undefined : named(name, '--name'),
    };
  },
};

function isKind(text: string): text is Command['kind'] {
  return Object.hasOwn(COMMANDS, text);
}

function only(subjects: readonly string[], what: string): string {
  const [subject, ...more] = subjects;
  if (subject === undefined) throw new UsageError(`${what} is missing`);
  none(more);
  return subject;
}

function none([subject]: readonly string[]): void {
  if (subject !== undefined)
    throw new UsageError(`${subject} is one argument too many; a name with spaces needs quotes`);
}

function oneOf<Value extends string>(values: readonly Value[], text: string, option: string): Value {
  const found = values.find(value => value === text);
  if (found === undefined) throw new UsageError(`${option} takes ${values.join(' or ')}`);
  return found;
}

function named(text: string, what: string): string {
  if (!isSingleLine(text) || [...text].length > LONGEST_NAME)
    throw new UsageError(`${what} has to be one line of 1 to 100 characters`);
  return text;
}

function emailOf(text: string): string {
  if (EMAIL.test(text) && text.length <= LONGEST_EMAIL) return text.toLowerCase();
  throw new UsageError('--email takes one e-mail address');
}

function future(text: string, now: number): number {
  const end = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (!(end > now))
    throw new UsageError('--expires takes a moment in the future, such as 2031-01-01T00:00:00Z');
  return end;
}

/** Output of a command: results for programs, and remarks for people. */
export interface Printed {
  readonly lines: readonly string[];
  readonly remarks?: readonly string[];
}

/** Finds an organization by id or name. @throws Refused when there is none */
export async function namedOrganization(handle: Handle, nameOrId: string): Promise<Organization> {
  const organizations = organizationStore(handle);
  const found = (await organizations.find(nameOrId)) ?? (await organizations.findByName(nameOrId));
  if (found === undefined) throw new Refused(`there is no organization ${nameOrId}; list shows all of them`);
  return found;
}
