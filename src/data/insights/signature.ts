import { type AbiEvent, isHash, parseAbiItem, toEventSelector, toEventSignature } from 'viem';
import { InvalidParameter } from '../../contract/violations.ts';

/** Which event is meant. */
export interface NamedEvent {
  /** Its first topic, in lower case. */
  readonly topic0: string;
  /** With names and `indexed`, where the request says what is indexed: enough to decode by. */
  readonly signature?: string;
  /** Without names and blanks; not there when only the topic was given. */
  readonly canonical?: string;
}

const EVENT = /^(?:event\s+)?([A-Za-z_$][\w$]*)\s*\(([\s\S]*)\)$/;
/** The way explorers write an indexed parameter. */
const EXPLORER_STYLE = /\bindex_topic_\d+\s+([\w[\]]+)/g;

/**
 * Reads an event's signature, canonical or with names, `indexed` and blanks, or its topic. Decision 84.
 * @throws InvalidParameter
 */
export function namedEvent(text: string): NamedEvent {
  const trimmed = text.trim();
  if (isHash(trimmed)) return { topic0: trimmed.toLowerCase() };
  const [, name, parameters] = EVENT.exec(trimmed) ?? [];
  if (name === undefined || parameters === undefined) throw noSignature();
  const plain = parameters.replace(EXPLORER_STYLE, '$1 indexed').replace(/\s+/g, ' ').trim();
  const event = parsed(`event ${name}(${plain})`);
  const topic0 = toEventSelector(event);
  const canonical = toEventSignature(event);
  return event.inputs.some(({ indexed }) => indexed)
    ? { topic0, canonical, signature: `event ${name}(${plain})` }
    : { topic0, canonical };
}

function parsed(signature: string): AbiEvent {
  try {
    const item: unknown = parseAbiItem(signature);
    if (isEvent(item)) return item;
  } catch (cause) {
    throw noSignature(cause);
  }
  throw noSignature();
}

function isEvent(item: unknown): item is AbiEvent {
  return typeof item === 'object' && item !== null && 'type' in item && item.type === 'event';
}

function noSignature(cause?: unknown): InvalidParameter {
  const error = new InvalidParameter(
    'signature',
    'must be an event signature such as Transfer(address,address,uint256), or its topic of 32 bytes',
  );
  error.cause = cause;
  return error;
}
