import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';

/** keccak256('Upgraded(address)'). */
const UPGRADED = `topic0 = x'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'`;

/** Implementations of those of the addresses that are proxies: minimal ones (EIP-1167), and by event (EIP-1967). */
export async function implementations(
  handle: Handle,
  addresses: readonly Address[],
): Promise<Map<Address, Address>> {
  if (addresses.length === 0) return new Map();
  const bindings = addresses.map(bytesColumn);
  const list = placeholders(addresses.length);
  const minimal = await handle.raw<{ address: Buffer; implementation: Buffer }[]>(
    `select address, implementation from addresses where address in (${list}) and implementation is not null`,
    bindings,
  );
  const upgraded = await handle.raw<{ address: Buffer; topic1: Buffer | null }[]>(
    `select l.address, l.topic1 from logs l where l.id in
       (select max(id) from logs where ${UPGRADED} and address in (${list}) group by address)`,
    bindings,
  );
  return new Map([
    ...upgraded.flatMap(({ address, topic1 }): [Address, Address][] =>
      topic1 === null ? [] : [[hexOf(address), hexOf(topic1.subarray(-20))]],
    ),
    ...minimal.map(({ address, implementation }): [Address, Address] => [
      hexOf(address),
      hexOf(implementation),
    ]),
  ]);
}
