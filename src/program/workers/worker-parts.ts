import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { Role } from '#config/roles.ts';

/** Roles that answer requests. Any number of workers can have them. */
const SERVING: readonly Role[] = ['data', 'payments'];

/**
 * Workers of a configuration: several that share the listeners, and a single one with all other roles.
 * Empty when one process does everything or when no role serves requests.
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
