import { didYouMean } from '../lib/broken-rule.ts';
import { readArguments, UsageError } from '../lib/command-line.ts';
import { ROLES, ROLES_OF, type Role } from './roles.ts';

/** What the command line says. */
export interface Arguments {
  configFile: string | undefined;
  /** Those of `--role` or `--only`, which replace the file's; undefined without either. */
  roles: readonly Role[] | undefined;
  help: boolean;
}

export const USAGE = `Usage: tollgate start [options]

  --config FILE            the configuration, YAML or JSON; without one, embedded chains are served
  --role ROLE[,ROLE]       what this process does: ${ROLES.join(', ')}; may be repeated
  --only data|payments     one service only: data and indexer, or payments, settlement and delivery
  --help                   print this

Pending migrations of the databases are applied first; tollgate migrate --config FILE does so beforehand.
`;

const OPTIONS = {
  config: { type: 'string' },
  only: { type: 'string' },
  role: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads the arguments after the program's name. @throws UsageError */
export function parseArguments(argv: readonly string[]): Arguments {
  const { config, only, role, help } = readArguments(argv, { options: OPTIONS }).values;
  if (config === '') throw new UsageError('--config takes the path of a file');
  if (only !== undefined && role !== undefined) throw new UsageError('--only must not stand beside --role');
  return {
    configFile: config,
    roles: role === undefined ? rolesOf(only) : rolesIn(role),
    help: help ?? false,
  };
}

function rolesOf(service: string | undefined): readonly Role[] | undefined {
  if (service === undefined) return undefined;
  if (service !== 'data' && service !== 'payments') throw new UsageError('--only takes data or payments');
  return ROLES_OF[service];
}

/** Roles in the order of `ROLES`, each once. */
function rolesIn(texts: readonly string[]): readonly Role[] {
  const names = texts.flatMap(text => text.split(',')).map(name => name.trim());
  const unknown = names.find(name => !ROLES.some(role => role === name));
  if (unknown === undefined) return ROLES.filter(role => names.includes(role));
  const meant = didYouMean(unknown, ROLES);
  throw new UsageError(
    `--role takes ${ROLES.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}
