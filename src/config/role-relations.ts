import type { components } from '../../generated/config/types.ts';
import { ROLES_OF, type Role } from './config.ts';
import type { Violation } from './config-error.ts';

type File = components['schemas']['ConfigFile'];

/** Rejects roles or workers in separate processes when their shared data exists in only one process. */
export function roleRelations(file: File): Violation[] {
  return [...embeddedChains(file), ...indexesInMemory(file), ...paymentsInMemory(file), ...workers(file)];
}

/** With several workers, shared data must not be in the memory of one process. */
function workers({ workers: count, devnet, chains, payments }: File): Violation[] {
  if (count === 1) return [];
  if (devnet !== undefined || chains.length === 0)
    return [fault(['workers'], 'must be 1 with embedded chains, which belong to one process')];
  const databases: [Violation['steps'], string | undefined][] = [
    [['payments', 'database'], payments.database],
    ...chains.flatMap(({ backends }, chain) =>
      backends.flatMap((backend, index): [Violation['steps'], string | undefined][] =>
        backend.kind === 'index'
          ? [[['chains', chain, 'backends', index, 'database'], backend.database]]
          : [],
      ),
    ),
  ];
  return databases
    .filter(([, database]) => isInMemory(database))
    .map(([steps]) => fault(steps, 'must be a file or a PostgreSQL database, because workers share it'));
}

/** Embedded chains, and the databases of a run without a file, end with their process. */
function embeddedChains({ devnet, chains, roles }: File): Violation[] {
  if (devnet === undefined && chains.length > 0) return [];
  const missing = [...missingOf('data', roles), ...missingOf('payments', roles)];
  return missing.length === 0
    ? []
    : [fault(['roles'], `needs ${missing.join(', ')} as well: no other process has the embedded chains`)];
}

function indexesInMemory({ chains, roles }: File): Violation[] {
  const missing = missingOf('data', roles);
  if (missing.length === 0) return [];
  return chains.flatMap(({ backends }, chain) =>
    backends.flatMap((backend, index) =>
      backend.kind === 'index' && isInMemory(backend.database)
        ? [fault(['chains', chain, 'backends', index, 'database'], sharedBy('data', missing))]
        : [],
    ),
  );
}

function paymentsInMemory({ payments, roles }: File): Violation[] {
  const missing = missingOf('payments', roles);
  return missing.length > 0 && isInMemory(payments.database)
    ? [fault(['payments', 'database'], sharedBy('payments', missing))]
    : [];
}

/** Roles of a service that this process does not have. Empty when it has none of them. */
function missingOf(service: keyof typeof ROLES_OF, roles: readonly Role[]): readonly Role[] {
  const all: readonly Role[] = ROLES_OF[service];
  const missing = all.filter(role => !roles.includes(role));
  return missing.length === all.length ? [] : missing;
}

function isInMemory(database: string | undefined): boolean {
  return database === 'sqlite::memory:';
}

function sharedBy(service: keyof typeof ROLES_OF, missing: readonly Role[]): string {
  return `must be a file or a PostgreSQL database, because ${missing.join(' and ')} of ${service} would run in another process`;
}

function fault(steps: Violation['steps'], message: string): Violation {
  return { steps, message };
}
