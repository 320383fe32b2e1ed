import type { Config } from './config.ts';
import type { ListenAddress } from './units.ts';

/** Addresses at which a process with the configured roles listens, by setting. */
export function listenersOf({ data, payments, admin, roles }: Config): ReadonlyMap<string, ListenAddress> {
  return new Map([
    ...(roles.includes('data') ? [['data.listen', data.listen] as const] : []),
    ...(roles.includes('payments') ? [['payments.listen', payments.listen] as const] : []),
    ['admin.listen', admin.listen],
  ]);
}
