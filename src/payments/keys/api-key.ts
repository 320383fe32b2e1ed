import type { Mode } from '../model/owner.ts';

/** What a key may do; each includes those before it. Source: document 3, "Authentication". */
export const PERMISSIONS = ['read', 'write', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** An API key without its secret. Times are UTC milliseconds. */
export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly mode: Mode;
  readonly name: string;
  /** Its first 13 characters. */
  readonly prefix: string;
  readonly lastFour: string;
  readonly permission: Permission;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** When another key took its place; it lives on until `expiresAt` and is not rolled again. */
  readonly rolledAt: number | null;
}

/** Everything that a permission includes, itself last. */
export function included(permission: Permission): Permission[] {
  return PERMISSIONS.slice(0, PERMISSIONS.indexOf(permission) + 1);
}

/** Neither expired nor revoked. */
export function isActiveKey(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}
