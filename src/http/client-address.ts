import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** Who sent a request. `address` is `unknown` when the peer has none (it hung up already, or a local socket). */
export interface Client {
  address: string;
  protocol: 'http' | 'https';
  /** Host and port as the client wrote them. */
  host: string;
  isLoopback: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const UNKNOWN = 'unknown';
const REMEMBERED_PEERS = 10_000;

/**
 * Reads the client of a request. X-Forwarded-For is walked from the right for as long as the hop so far is one of
 * `trustedProxies` (CIDRs or addresses); X-Forwarded-Proto and -Host are read only when the peer itself is trusted.
 * Headers that make no sense are ignored. Throws, when made, on a CIDR that is none.
 */
export function clientReader(trustedProxies: readonly string[]): (request: IncomingMessage) => Client {
  const ranges = trustedProxies.map(parseRange);
  const isTrusted = (address: Address) =>
    ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

  // A connection's requests come one after another from the same peer, so each is parsed once.
  const peers = new LRUCache<string, Peer>({ max: REMEMBERED_PEERS });
  const peerOf = (text = '') => {
    const known = peers.get(text);
    if (known !== undefined) return known;
    const address = parseAddress(text);
    const peer = { address, trusted: address !== undefined && isTrusted(address), ...facts(address) };
    peers.set(text, peer);
    return peer;
  };

  return request => {
    const peer = peerOf(request.socket.remoteAddress);
    const { trusted } = peer;
    const { text, isLoopback } =
      trusted && peer.address !== undefined
        ? facts(walk(peer.address, listed(request, 'x-forwarded-for'), isTrusted))
        : peer;
    const protocol = trusted ? listed(request, 'x-forwarded-proto').at(-1)?.toLowerCase() : undefined;
    const host = trusted ? listed(request, 'x-forwarded-host').at(-1) : undefined;
    return {
      address: text,
      protocol: protocol === 'https' ? 'https' : 'http',
      host: [host, request.headers.host].find(name => name !== undefined && HOST.test(name)) ?? 'localhost',
      isLoopback,
    };
  };
}

interface Peer {
  readonly address: Address | undefined;
  readonly trusted: boolean;
  readonly text: string;
  readonly isLoopback: boolean;
}

function facts(address: Address | undefined): { text: string; isLoopback: boolean } {
  return { text: address?.toString() ?? UNKNOWN, isLoopback: address?.range() === 'loopback' };
}

/** The address that limits count by: an IPv6 client holds a whole /64, so that is one key. */
export function rateLimitKey(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${parsed.toByteArray().slice(0, 8).join('.')}/64`;
}

function walk(peer: Address, hops: string[], isTrusted: (address: Address) => boolean): Address {
  let client = peer;
  while (isTrusted(client)) {
    const hop = parseAddress(withoutPort(hops.pop()));
    if (hop === undefined) return client; // the list ended, or the hop wrote nonsense: it is the last one we know
    client = hop;
  }
  return client;
}

function listed({ headers }: IncomingMessage, name: string): string[] {
  const value = headers[name];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text === '' ? [] : text.split(',').map(part => part.trim());
}

function withoutPort(hop: string | undefined): string | undefined {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop ?? '')?.[1] ?? /^([\d.]+):\d+$/.exec(hop ?? '')?.[1] ?? hop;
}

function parseAddress(text: string | undefined): Address | undefined {
  if (text === undefined || text.length > 64) return undefined;
  // Four whole decimal parts only: the library also reads 1, 0x7f.1 and 0177.0.0.1 as IPv4.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function parseRange(cidr: string): [Address, number] {
  if (cidr.includes('/')) return ipaddr.parseCIDR(cidr);
  const address = ipaddr.parse(cidr);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
