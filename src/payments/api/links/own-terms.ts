import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Mode } from '../../model/owner.ts';
import { normalToken, type PaymentChains } from '../../model/payment-chain.ts';
import type { OwnTerms } from '../../sessions/opening.ts';
import { checkPlace } from './link-terms.ts';

type Body = PaymentsSchemas['CheckoutSessionCreation'];

/** What every link fixes, so that it cannot stand beside one. */
const FIXED_BY_LINK = ['token_address', 'chain_id', 'recipient_address'] as const;

/** @throws InvalidBody for terms that a link has fixed already (Decision 110). */
export function refuseFixedTerms(body: Body): void {
  const field = FIXED_BY_LINK.find(name => body[name] !== undefined);
  if (field !== undefined) throw new InvalidBody(field, 'must be left out: the payment link has one');
}

/** The four terms of a session without a link. @throws HttpError naming the first one missing, then the first one wrong. */
export function ownTermsOf(body: Body, place: { chains: PaymentChains; mode: Mode }): OwnTerms {
  const terms = {
    chainId: present(body, 'chain_id'),
    tokenAddress: normalToken(present(body, 'token_address')),
    recipientAddress: present(body, 'recipient_address').toLowerCase(),
    amount: BigInt(present(body, 'amount')),
  };
  checkPlace(terms, place, () => true);
  return terms;
}

/** In this order they are asked for. */
const OWN_TERMS = [...FIXED_BY_LINK, 'amount'] as const;

function present<Name extends (typeof OWN_TERMS)[number]>(body: Body, name: Name): NonNullable<Body[Name]> {
  const value = body[name];
  if (value !== undefined) return value;
  const first = OWN_TERMS.find(term => body[term] === undefined) ?? name;
  throw paymentsError('missing_required_field', `The '${first}' field is required.`, { param: first });
}
