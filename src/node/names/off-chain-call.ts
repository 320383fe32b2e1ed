import {
  type Address,
  concat,
  decodeErrorResult,
  encodeAbiParameters,
  type Hex,
  isAddressEqual,
  isHex,
  parseAbi,
  size,
} from 'viem';
import { FetchFailure } from '#http/fetch/guarded-fetch.ts';
import { isObject } from '#lib/json.ts';
import { countMembers } from '#lib/json-text/member-count.ts';
import type { ChainClient } from '../client.ts';
import { RpcFailure } from '../transport/errors.ts';
import type { Gateways } from './gateways.ts';

/** Time for all answers of gateways to one call. */
const CALL_MS = 8_000;
/** Answers of gateways that one call may ask for, and URLs that are tried for each. */
const MAX_ROUNDS = 4;
const MAX_URLS = 4;
const MAX_URL_LENGTH = 1_024;
/** Bytes of a question, and of a question that is part of a URL. */
const MAX_QUESTION_BYTES = 64 * 1024;
const MAX_QUESTION_BYTES_IN_URL = 4 * 1024;
/** An answer is an object with one key. */
const MAX_MEMBERS = 100;

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/**
 * Calls a contract that may ask for the answer of a gateway (EIP-3668), within the limits of Decision 283.
 * @throws what the node answered, also when no gateway gives an answer
 */
export async function offChainCall(client: ChainClient, call: Call, gateways: Gateways): Promise<Hex> {
  const signal = AbortSignal.timeout(CALL_MS);
  let asked = call;
  for (let round = 0; ; round += 1) {
    try {
      return await client.public.request({ method: 'eth_call', params: [asked, 'latest'] });
    } catch (error) {
      const lookup = round < MAX_ROUNDS ? lookupIn(error) : undefined;
      // A contract could otherwise pass on what another one asks, and have the answer.
      if (lookup === undefined || !isAddressEqual(lookup.sender, asked.to)) throw error;
      const answer = await answerOf(lookup, gateways, signal);
      if (answer === undefined) throw error;
      const args = encodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }], [answer, lookup.extraData]);
      asked = { to: asked.to, data: concat([lookup.callback, args]) };
    }
  }
}

/** Request of a contract to a gateway. */
interface Lookup {
  readonly sender: Address;
  readonly urls: readonly string[];
  readonly question: Hex;
  readonly callback: Hex;
  readonly extraData: Hex;
}

const OFFCHAIN_LOOKUP = parseAbi([
  'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
]);

/** The look-up in the revert of a call; undefined for any other failure. */
function lookupIn(error: unknown): Lookup | undefined {
  const data = revertDataOf(error);
  if (data === undefined || size(data) > MAX_QUESTION_BYTES) return undefined;
  try {
    const { args } = decodeErrorResult({ abi: OFFCHAIN_LOOKUP, data });
    const [sender, urls, question, callback, extraData] = args;
    return { sender, urls: urls.slice(0, MAX_URLS), question, callback, extraData };
  } catch {
    // Another error, or one that is cut off.
    return undefined;
  }
}

/** Some nodes put the bytes into an object. */
function revertDataOf(error: unknown): Hex | undefined {
  let failure = error;
  while (failure instanceof Error && !(failure instanceof RpcFailure)) failure = failure.cause;
  if (!(failure instanceof RpcFailure)) return undefined;
  const data = isObject(failure.data) ? failure.data.data : failure.data;
  return isHex(data) ? data : undefined;
}

/** The first answer of a gateway, in the order of the URLs. An error of the client (4xx) is final. */
async function answerOf(lookup: Lookup, gateways: Gateways, signal: AbortSignal): Promise<Hex | undefined> {
  for (const template of lookup.urls) {
    const request = requestTo(template, lookup);
    if (request === undefined) continue;
    try {
      const { status, bytes } = await gateways.fetch({ ...request, signal });
      if (status >= 200 && status < 300) return answerIn(bytes);
      if (status >= 400 && status < 500) return undefined;
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
    }
  }
  return undefined;
}

function requestTo(template: string, { sender, question }: Lookup) {
  const isInUrl = template.includes('{data}');
  if (template.length > MAX_URL_LENGTH || (isInUrl && size(question) > MAX_QUESTION_BYTES_IN_URL))
    return undefined;
  const url = template.replaceAll('{sender}', sender.toLowerCase()).replaceAll('{data}', question);
  if (isInUrl) return { url };
  const body = JSON.stringify({ data: question, sender: sender.toLowerCase() });
  return { url, method: 'POST', headers: { 'content-type': 'application/json' }, body } as const;
}

function answerIn(bytes: Buffer): Hex | undefined {
  if (countMembers(bytes, MAX_MEMBERS) > MAX_MEMBERS) return undefined;
  try {
    const answer: unknown = JSON.parse(bytes.toString());
    const data = isObject(answer) ? answer.data : undefined;
    return isHex(data) && data.length % 2 === 0 ? data : undefined;
  } catch {
    return undefined;
  }
}
