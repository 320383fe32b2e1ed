import type { components } from '../../generated/config/types.ts';

/** One part of the work, which processes may share or have to themselves. Decision 257. */
export type Role = components['schemas']['ConfigFile']['roles'][number];

/** Roles by service, as `--only` names them. */
export const ROLES_OF = {
  data: ['data', 'indexer'],
  payments: ['payments', 'settlement', 'delivery'],
} as const satisfies Readonly<Record<'data' | 'payments', readonly Role[]>>;

/** Every role. */
export const ROLES: readonly Role[] = [...ROLES_OF.data, ...ROLES_OF.payments];
