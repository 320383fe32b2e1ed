import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { type IpAddress, isWithin, parseNetwork } from './networks.ts';

/**
 * Client of a request. `address` is `unknown` when the peer has none: it disconnected already, or uses a local socket.
 */
export interface Client {
  address: string;
  protocol: 'http' | 'https';
  /** Host and port as sent by the client. */
  host: string;
  /** True for a client on this machine, which is exempt from limits per address. */
  isExempt: boolean;
}

const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const UNKNOWN = 'unknown';
/** Headers added by proxies. A request with one of them may come from anywhere, even when its peer is on loopback. */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'forwarded',
  'x-real-ip',
  'via',
] as const;
/** Address ranges that usually contain the operator's own proxies. */
const NEARBY: readonly string[] = ['loopback', 'private', 'uniqueLocal'];
const REMEMBERED_PEERS = 10_000;

/**
 * Determines the client of a request. X-Forwarded-For is walked from the right as long as the current hop is in
 * `trustedProxies` (CIDRs or addresses). X-Forwarded-Proto and -Host are used only when the peer itself is trusted.
 * Invalid headers are ignored. `onUnknownProxy` is called with the address of a nearby peer that forwards requests
 * without being trusted.
 * @throws on creation, for an invalid CIDR
 */
export function clientReader(
  trustedProxies: readonly string[],
  onUnknownProxy: (peer: string) => void = () => {},
): (request: IncomingMessage) => Client {
  const isTrusted = trustedProxyTest(trustedProxies);

  // Requests of one connection come from the same peer, so its address is parsed once.
  const peers = new LRUCache<string, Peer>({ max: REMEMBERED_PEERS });
  const peerOf = (text = '') => {
    const known = peers.get(text);
    if (known !== undefined) return known;
    const address = parseAddress(text);
    const range = address?.range();
    const peer = {
      address,
      text: textOf(address),
      isTrusted: address !== undefined && isTrusted(address),
      isLoopback: range === 'loopback',
      isNearby: range !== undefined && NEARBY.includes(range),
    };
    peers.set(text, peer);
    return peer;
  };

  return request => {
    const peer = peerOf(request.socket.remoteAddress);
    const isForwarded = peer.isNearby && PROXY_HEADERS.some(name => request.headers[name] !== undefined);
    if (isForwarded && !peer.isTrusted) onUnknownProxy(peer.text);
    const hop = peer.isTrusted ? lastHop(listed(request, 'x-forwarded-for'), isTrusted) : undefined;
    const protocol = peer.isTrusted ? listed(request, 'x-forwarded-proto').at(-1)?.toLowerCase() : undefined;
    const host = peer.isTrusted ? listed(request, 'x-forwarded-host').at(-1) : undefined;
    return {
      address: hop === undefined ? peer.text : textOf(hop.address),
      protocol: protocol === 'https' ? 'https' : 'http',
      host: [host, request.headers.host].find(name => name !== undefined && HOST.test(name)) ?? 'localhost',
      isExempt: hop === undefined ? peer.isLoopback && !isForwarded : hop.isClient && isLoopback(hop.address),
    };
  };
}

interface Peer {
  readonly address: IpAddress | undefined;
  readonly text: string;
  readonly isTrusted: boolean;
  readonly isLoopback: boolean;
  readonly isNearby: boolean;
}

/**
 * Returns a test for peers whose connections are not counted per address: proxies, which carry many clients, and this
 * machine. The test knows only the connection, not the headers of its requests.
 */
export function uncountedPeers(trustedProxies: readonly string[]): (address: string) => boolean {
  const isTrusted = trustedProxyTest(trustedProxies);
  return text => {
    const address = parseAddress(text);
    return address !== undefined && (isLoopback(address) || isTrusted(address));
  };
}

function trustedProxyTest(trustedProxies: readonly string[]): (address: IpAddress) => boolean {
  const ranges = trustedProxies.map(parseNetwork);
  return address => isWithin(address, ranges);
}

function textOf(address: IpAddress | undefined): string {
  return address?.toString() ?? UNKNOWN;
}

function isLoopback(address: IpAddress): boolean {
  return address.range() === 'loopback';
}

/** True for a valid host with an optional port. */
export function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}`);
}

/** Key of a client for limits per address; undefined for an exempt client. */
export function limitKey({ isExempt, address }: Client): string | undefined {
  return isExempt ? undefined : clientKey(address);
}

/** Part of an address that identifies a client: an IPv6 client has a whole /64. */
export function clientKey(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${parsed.toByteArray().slice(0, 8).join('.')}/64`;
}

/**
 * Last readable hop in a trusted peer's list, walking from the right over trusted hops; undefined if there is none.
 * `isClient` is false when an unreadable hop precedes it.
 */
function lastHop(
  hops: string[],
  isTrusted: (address: IpAddress) => boolean,
): { address: IpAddress; isClient: boolean } | undefined {
  let last: IpAddress | undefined;
  while (hops.length > 0 && (last === undefined || isTrusted(last))) {
    const hop = parseAddress(withoutPort(hops.pop()));
    if (hop === undefined) return last && { address: last, isClient: false };
    last = hop;
  }
  return last && { address: last, isClient: true };
}

function listed({ headers }: IncomingMessage, name: string): string[] {
  const value = headers[name];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text === '' ? [] : text.split(',').map(part => part.trim());
}

function withoutPort(hop: string | undefined): string | undefined {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop ?? '')?.[1] ?? /^([\d.]+):\d+$/.exec(hop ?? '')?.[1] ?? hop;
}

function parseAddress(text: string | undefined): IpAddress | undefined {
  if (text === undefined || text.length > 64) return undefined;
  // Only four decimal parts: the library also parses 1, 0x7f.1 and 0177.0.0.1 as IPv4.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
