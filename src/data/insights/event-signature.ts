import { type AbiEvent, type AbiParameter, isHash, keccak256, toHex } from 'viem';
import { InvalidParameter } from '../../contract/contracts/violations.ts';
import { parsedEvent } from './event-parser.ts';

/** Which event is meant. */
export interface NamedEvent {
  /** Its first topic, in lower case. */
  readonly topic0: string;
  /** With names and `indexed`, where the request says what is indexed: enough to decode by. In one spelling. */
  readonly signature?: string;
  /** Without names and blanks; not there when only the topic was given. */
  readonly canonical?: string;
  /** What `signature` says. */
  readonly abi?: AbiEvent;
}

/**
 * Reads an event's signature, canonical or with names, `indexed` and blanks, or its topic. Decision 84.
 * @throws InvalidParameter
 */
export function namedEvent(text: string): NamedEvent {
  const trimmed = text.trim();
  if (isHash(trimmed)) return { topic0: trimmed.toLowerCase() };
  const abi = parsedEvent(trimmed);
  if (abi === null) {
    throw new InvalidParameter(
      'signature',
      'must be an event signature such as Transfer(address,address,uint256), or its topic of 32 bytes',
    );
  }
  const canonical = `${abi.name}(${abi.inputs.map(typeOf).join(',')})`;
  const topic0 = keccak256(toHex(canonical));
  if (!abi.inputs.some(({ indexed }) => indexed)) return { topic0, canonical };
  return { topic0, canonical, signature: `${abi.name}(${abi.inputs.map(spelt).join(', ')})`, abi };
}

function typeOf(parameter: AbiParameter): string {
  return typeWith(parameter, parts => parts.map(typeOf).join(','));
}

function spelt(parameter: AbiParameter & { readonly indexed?: boolean | undefined }): string {
  const type = typeWith(parameter, parts => parts.map(spelt).join(', '));
  return [type, parameter.indexed === true ? 'indexed' : '', parameter.name ?? '']
    .filter(word => word !== '')
    .join(' ');
}

function typeWith(parameter: AbiParameter, inside: (parts: readonly AbiParameter[]) => string): string {
  if (!('components' in parameter)) return parameter.type;
  return `(${inside(parameter.components)})${parameter.type.slice('tuple'.length)}`;
}
