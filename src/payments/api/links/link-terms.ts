import { InvalidBody } from '#contract/contracts/violations.ts';
import { LARGEST_AMOUNT } from '../../amounts/token-amount.ts';
import type { Mode } from '../../model/owner.ts';
import {
  isReserved,
  normalToken,
  type PaymentChains,
  RESERVED_RULE,
  tokenOf,
} from '../../model/payment-chain.ts';
import type { PaymentLink } from '../../model/payment-link.ts';

/** Prices of a link, for the rules between them. An absent field is not known yet. */
export type Prices = Partial<
  Pick<PaymentLink, 'amount' | 'minAmount' | 'maxAmount' | 'suggestedAmount' | 'items' | 'shippingOptions'>
>;
/** Recipient, chain and token of a link. */
export type PaymentDestination = Pick<PaymentLink, 'chainId' | 'tokenAddress' | 'recipientAddress'>;

/** True when the request itself names a field of the contract. */
export type IsGiven = (field: string) => boolean;

/**
 * Checks the rules between the prices of a link (Decision 108).
 * @throws InvalidBody naming a field of the request
 */
export function checkPrices(prices: Prices, isGiven: IsGiven): void {
  const { amount, minAmount, maxAmount, suggestedAmount } = prices;
  const bounds = [
    ['min_amount', minAmount],
    ['suggested_amount', suggestedAmount],
    ['max_amount', maxAmount],
  ] as const;
  if (isSet(amount)) {
    const bound = bounds.find(([, value]) => isSet(value));
    if (bound !== undefined) throw conflict('cannot be combined with', [bound[0], 'amount'], isGiven);
  }
  for (const [index, [name, low]] of bounds.entries()) {
    for (const [above, high] of bounds.slice(index + 1)) {
      if (isSet(low) && isSet(high) && low > high) {
        throw new InvalidBody(
          fieldAtFault([name, above], isGiven),
          'breaks the order: min_amount ≤ suggested_amount ≤ max_amount must hold',
        );
      }
    }
  }
  const sum = sumOf(prices, isGiven);
  checkShipping(amount ?? sum, prices, isGiven);
}

/**
 * Checks the chain, the token and the recipient of a link. Letter case is ignored; chains belong to one mode (Decisions
 * 98 and 107).
 * @throws InvalidBody
 */
export function checkDestination(
  { chainId, tokenAddress, recipientAddress }: PaymentDestination,
  { chains, mode }: { chains: PaymentChains; mode: Mode },
  isGiven: IsGiven,
): void {
  const chain = chains.find(mode, chainId);
  if (chain === undefined) {
    throw new InvalidBody('chain_id', `must be a chain that is configured for ${mode} mode`);
  }
  if (tokenOf(chain, tokenAddress) === undefined) {
    throw new InvalidBody(
      fieldAtFault(['token_address', 'chain_id'], isGiven),
      `must agree with the tokens that are configured for chain ${chainId}`,
    );
  }
  const recipient = normalToken(recipientAddress);
  if (isReserved(recipient)) throw new InvalidBody('recipient_address', RESERVED_RULE);
  if (recipient === tokenAddress) {
    throw conflict('must differ from', ['recipient_address', 'token_address'], isGiven);
  }
  if (tokenOf(chain, recipient) !== undefined) {
    throw new InvalidBody(
      fieldAtFault(['recipient_address', 'chain_id'], isGiven),
      'must not make the contract of a token the recipient, because payments to it are lost',
    );
  }
}

/** Total price of the items; undefined when there are none or they are not known. */
function sumOf({ amount, items = [] }: Prices, isGiven: IsGiven): bigint | undefined {
  if (items.length === 0) return undefined;
  const sum = items.reduce((total, item) => total + BigInt(item.amount) * BigInt(item.quantity), 0n);
  if (sum === 0n) throw new InvalidBody('items', 'must cost more than 0 in total');
  if (sum > LARGEST_AMOUNT) throw new InvalidBody('items', 'must cost less than 2^256 in total');
  if (isSet(amount) && sum !== amount) {
    throw new InvalidBody(
      fieldAtFault(['items', 'amount'], isGiven),
      `does not fit: the prices of the items add up to ${sum}, and the amount is ${amount}`,
    );
  }
  return sum;
}

/** Checks the price with each shipping option. A total above 2^256 - 1 could never be paid. */
function checkShipping(price: bigint | undefined, { shippingOptions = [] }: Prices, isGiven: IsGiven): void {
  if (price === undefined) return;
  for (const [index, { amount }] of shippingOptions.entries()) {
    if (price + BigInt(amount) <= LARGEST_AMOUNT) continue;
    const field = fieldAtFault(['shipping_options', 'amount', 'items'], isGiven);
    throw new InvalidBody(
      field === 'shipping_options' ? `shipping_options.${index}.amount` : field,
      'must keep the price plus the shipping below 2^256',
    );
  }
}

function isSet(amount: bigint | null | undefined): amount is bigint {
  return amount !== null && amount !== undefined;
}

/** The first of the conflicting fields that the request names, or the first of all when it names none. */
function fieldAtFault(fields: readonly [string, ...string[]], isGiven: IsGiven): string {
  return fields.find(isGiven) ?? fields[0];
}

function conflict(verb: string, fields: readonly [string, string], isGiven: IsGiven): InvalidBody {
  const field = fieldAtFault(fields, isGiven);
  return new InvalidBody(field, `${verb} '${field === fields[0] ? fields[1] : fields[0]}'`);
}
