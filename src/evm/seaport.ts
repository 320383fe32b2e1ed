import { type Address, decodeEventLog, type Hash, type Hex, parseAbiItem } from 'viem';
import { lowerCase, ZERO_ADDRESS } from './address.ts';

/**
 * Event that every version of Seaport emits for a fulfilled order.
 * Source: github.com/ProjectOpenSea/seaport, contracts/interfaces/ConsiderationEventsAndErrors.sol.
 */
export const ORDER_FULFILLED = parseAbiItem([
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
]);

/** First topic of `ORDER_FULFILLED`. */
export const ORDER_FULFILLED_TOPIC = '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31';

/** Seaport's `ItemType` by number. Items with criteria get the same name as those without. */
const KINDS = ['native', 'erc20', 'erc721', 'erc1155', 'erc721', 'erc1155'] as const;
type OrderItemKind = (typeof KINDS)[number];

/** Asset that is transferred by an order. */
export interface OrderItem {
  kind: OrderItemKind;
  /** The zero address for the coin. */
  token: Address;
  /** 0 for assets without ids. */
  tokenId: bigint;
  /** In the smallest unit. */
  amount: bigint;
}

/** Fulfilled order. Addresses are lower-case. */
export interface FulfilledOrder {
  marketplace: Address;
  transactionHash: Hash;
  /** Log index within the block. */
  logIndex: number;
  /** Account that gives the offered items. */
  offerer: Address;
  /** Account that receives the offered items; null when several orders were matched with one another. */
  recipient: Address | null;
  offer: OrderItem[];
  consideration: (OrderItem & { recipient: Address })[];
}

/** Decodes a log of `OrderFulfilled`; null when the log has another topic or does not fit. */
export function fulfilledOrder(log: {
  address: Address;
  transactionHash: Hash;
  logIndex: number;
  topics: readonly Hex[];
  data: Hex;
}): FulfilledOrder | null {
  const [signature, ...indexed] = log.topics;
  if (signature !== ORDER_FULFILLED_TOPIC) return null;
  try {
    const { args } = decodeEventLog({
      abi: [ORDER_FULFILLED],
      topics: [signature, ...indexed],
      data: log.data,
    });
    return {
      marketplace: lowerCase(log.address),
      transactionHash: log.transactionHash,
      logIndex: log.logIndex,
      offerer: lowerCase(args.offerer),
      recipient: args.recipient === ZERO_ADDRESS ? null : lowerCase(args.recipient),
      offer: args.offer.map(itemOf),
      consideration: args.consideration.map(item => ({
        ...itemOf(item),
        recipient: lowerCase(item.recipient),
      })),
    };
  } catch {
    // Any contract may emit a log with this topic.
    return null;
  }
}

function itemOf(item: { itemType: number; token: Address; identifier: bigint; amount: bigint }): OrderItem {
  const kind = KINDS[item.itemType];
  if (kind === undefined) throw new RangeError(`Seaport has no items of type ${item.itemType}.`);
  return { kind, token: lowerCase(item.token), tokenId: item.identifier, amount: item.amount };
}
