import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { Role } from '#config/roles.ts';

/** Roles that answer requests, which each worker can do for itself. */
const SERVING: readonly Role[] = ['data', 'payments'];

/**
 * The workers of a configuration: those that share the listeners, and one with all other roles, which no other worker has.
 * None where one process does everything or where nothing is served.
 */
export function workerParts({ workers, roles }: Pick<Config, 'workers' | 'roles'>): readonly WorkerPart[] {
  const serving = roles.filter(role => SERVING.includes(role));
  const others = roles.filter(role => !SERVING.includes(role));
  if (workers === 1 || serving.length === 0) return [];
  return [
    ...Array.from({ length: workers }, (_, index) => ({ name: `worker ${index + 1}`, roles: serving })),
    ...(others.length === 0 ? [] : [{ name: 'background', roles: others }]),
  ];
}
