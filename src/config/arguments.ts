import { didYouMean } from '../lib/broken-rule.ts';
import { readArguments, UsageError } from '../lib/command-line.ts';
import { ROLES, ROLES_OF, type Role } from './config.ts';

/** Parsed command line. */
export interface Arguments {
  configFile: string | undefined;
  /** Roles of `--role` or `--only`, which replace those of the file. Undefined without either option. */
  roles: readonly Role[] | undefined;
  help: boolean;
}

export const USAGE = `Usage: tollgate start [options]

  --config FILE            configuration file, YAML or JSON; without it, embedded chains are used
  --role ROLE[,ROLE]       roles of this process: ${ROLES.join(', ')}; may be repeated
  --only data|payments     roles of one service: data and indexer, or payments, settlement and delivery
  --help                   print this

Pending database migrations run first. To run them separately: tollgate migrate --config FILE
`;

const OPTIONS = {
  config: { type: 'string' },
  only: { type: 'string' },
  role: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Parses the arguments after the program's name.
 * @throws UsageError
 */
export function parseArguments(argv: readonly string[]): Arguments {
  const { config, only, role, help } = readArguments(argv, { options: OPTIONS }).values;
  if (config === '') throw new UsageError('--config needs the path of a file');
  if (only !== undefined && role !== undefined) throw new UsageError('--only cannot be combined with --role');
  return {
    configFile: config,
    roles: role === undefined ? rolesOf(only) : rolesIn(role),
    help: help ?? false,
  };
}

function rolesOf(service: string | undefined): readonly Role[] | undefined {
  if (service === undefined) return undefined;
  if (service !== 'data' && service !== 'payments') throw new UsageError('--only must be data or payments');
  return ROLES_OF[service];
}

/** Roles in the order of `ROLES`, without duplicates. */
function rolesIn(texts: readonly string[]): readonly Role[] {
  const names = texts.flatMap(text => text.split(',')).map(name => name.trim());
  const unknown = names.find(name => !ROLES.some(role => role === name));
  if (unknown === undefined) return ROLES.filter(role => names.includes(role));
  const meant = didYouMean(unknown, ROLES);
  throw new UsageError(
    `--role takes ${ROLES.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}
