import { isIP } from 'node:net';

/** Ends of names that nobody can register. Source: RFC 6761, RFC 6762, RFC 8375; ICANN resolution 2024.07.29.06. */
const PRIVATE_ENDS = ['.localhost', '.local', '.home.arpa', '.internal'];
const NAME_AND_PORT = /^(?<name>[^:]*?)\.?(?::\d*)?$/;
const ADDRESS_6 = /^\[(?<address>[^\]]*)\](?::\d*)?$/;

/**
 * Returns a test for Host headers: true for an IP address, for a name that no stranger can register, and for the given
 * names, of which `*.example.com` stands for all names below one. A page of any other name reaches this server only if
 * its owner points the name here, so that the page may read the answers (DNS rebinding).
 */
export function hostJudge(names: readonly string[]): (host: string) => boolean {
  const exact = new Set(names.filter(name => !name.startsWith('*')).map(lower));
  const ends = [
    ...PRIVATE_ENDS,
    ...names.filter(name => name.startsWith('*')).map(name => lower(name.slice(1))),
  ];

  return host => {
    const address = ADDRESS_6.exec(host)?.groups?.address;
    if (address !== undefined) return isIP(address) === 6;
    const name = lower(NAME_AND_PORT.exec(host)?.groups?.name ?? '');
    if (isIP(name) === 4 || exact.has(name)) return true;
    return name !== '' && (!name.includes('.') || ends.some(end => name.endsWith(end)));
  };
}

function lower(name: string): string {
  return name.toLowerCase();
}
