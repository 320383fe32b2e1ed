import type { components } from '../../generated/config/types.ts';

/** Kind of work that a process does. A process can have several roles (Decision 257). */
export type Role = components['schemas']['ConfigFile']['roles'][number];

/** Roles by service, for `--only`. */
export const ROLES_OF = {
  data: ['data', 'indexer'],
  payments: ['payments', 'settlement', 'delivery'],
} as const satisfies Readonly<Record<'data' | 'payments', readonly Role[]>>;

/** All roles. */
export const ROLES: readonly Role[] = [...ROLES_OF.data, ...ROLES_OF.payments];
