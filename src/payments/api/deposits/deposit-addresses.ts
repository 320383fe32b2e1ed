import { getAddress } from 'viem';
import type { OperationRequest } from '#contract/contracts/operations.ts';
import type { PaymentsOperations, PaymentsSchemas } from '#contract/contracts/payments.ts';
import { faultError } from '#contract/contracts/payments-errors.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Handle } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { announce } from '#db/woken-worker.ts';
import { type DepositFilters, type DepositListing, depositListing } from '../../deposits/deposit-listing.ts';
import { depositNumbers } from '../../deposits/deposit-numbers.ts';
import { lookSchedule } from '../../deposits/look-schedule.ts';
import type { PlanSweep, SweepPlan } from '../../deposits/sweep-plan.ts';
import { sweepStore } from '../../deposits/sweep-store.ts';
import { notNow } from '../../model/fault.ts';
import type { Owner } from '../../model/owner.ts';
import { normalToken, watcherName } from '../../model/payment-chain.ts';
import type { DepositAddress } from '../../model/recipient.ts';
import type { ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { pagedList, periodOf, resourceNotFound } from '../responses/answers.ts';
import { depositBody, type ShownDeposit } from './deposit-address-body.ts';
import { depositAddressesCsv } from './deposit-addresses-csv.ts';

/** Most sweeps of an address in its record. */
const SHOWN_SWEEPS = 10;
/** Most addresses of one sweep. Source: `SweepPreparation` of the contract. */
const MOST_ADDRESSES = 500;
/** Time for which further addresses are tried while none can be swept. */
const GO_ON_MS = 15_000;

/** An address that is not swept. */
interface LeftOut {
  readonly from: DepositAddress;
  readonly reason: PaymentsSchemas['UnsweptItem']['reason'];
}

/** Operations on deposit addresses, and sweeps of them, which a wallet of the merchant sends (Decision 403). */
export function depositAddressHandlers(
  { db, clock }: Pick<PaymentsContext, 'db' | 'clock'>,
  { planSweep }: { readonly planSweep: PlanSweep },
) {
  const listing = depositListing(db);
  const shown = async (handle: Handle, some: readonly DepositAddress[]): Promise<ShownDeposit[]> => {
    const states = await depositListing(handle).statesOf(some);
    const sweeps = await sweepStore(handle).last(
      some.map(({ address }) => address),
      SHOWN_SWEEPS,
    );
    return some.map(deposit => ({
      deposit,
      state: states.get(deposit.address),
      sweeps: sweeps.get(deposit.address) ?? [],
    }));
  };

  const shownOne = async (handle: Handle, deposit: DepositAddress): Promise<ShownDeposit> => {
    const [found] = await shown(handle, [deposit]);
    if (found === undefined) throw new Error(`The deposit address ${deposit.address} is not shown.`);
    return found;
  };

  return {
    async listDepositAddresses({ query }, caller) {
      const { page, limit } = query;
      const addresses = await listing.list(caller, filtersOf(query), { page, limit });
      const data = await shown(db, addresses.data);
      return {
        status: 200,
        body: pagedList('/api/v1/deposit-addresses', { ...addresses, data }, depositBody),
      };
    },

    async exportDepositAddresses({ query }, caller) {
      return depositAddressesCsv(listing, caller, filtersOf(query));
    },

    async getDepositAddress({ path: { address } }, caller) {
      const deposit = await depositOf(db, caller, address);
      return { status: 200, body: depositBody(await shownOne(db, deposit)) };
    },

    lookAtDepositAddress: ({ path: { address } }, caller) =>
      caller.commit(async handle => {
        const deposit = await depositOf(handle, caller, address);
        await lookSchedule(handle, deposit.chainId).lookNow(deposit.address, clock.now());
        announce(handle, watcherName(deposit.chainId));
        return { status: 200, body: depositBody(await shownOne(handle, deposit)) };
      }),

    getDepositSeed: (_, { organizationId }) =>
      transaction(db, async handle => {
        const numbers = depositNumbers(handle);
        const now = clock.now();
        const seed = await numbers.seed(organizationId, now);
        return {
          status: 200,
          body: { version: 1, seed, epochs: await numbers.epochsOf(organizationId, now) },
        };
      }),

    async prepareSweep({ body }, caller) {
      const minimums = new Map(
        body.minimums?.map(({ token_address, amount }) => [normalToken(token_address), BigInt(amount)]),
      );
      const until = clock.now() + GO_ON_MS;
      const leftOut: LeftOut[] = [];
      let after: DepositAddress | undefined;
      for (;;) {
        const { addresses, hasMore } = await chosen(listing, caller, body, after);
        const states = await listing.statesOf(addresses);
        const open = addresses.filter(({ address }) => states.get(address)?.isOpen === true);
        const ended = addresses.filter(one => !open.includes(one));
        const plan = await planSweep({ chainId: body.chain_id, addresses: ended, minimums });
        if ('reason' in plan) throw faultError(notNow(plan.reason));
        leftOut.push(...open.map(from => ({ from, reason: 'session_open' as const })), ...plan.left);
        after = addresses.at(-1);
        if (plan.parts.length === 0 && hasMore && clock.now() < until) continue;
        const answer = { ...planBody(body.chain_id, plan, leftOut), has_more: hasMore };
        return caller.commit(() => Promise.resolve({ status: 200, body: answer }));
      }
    },
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportDepositAddresses']>['query'];

function filtersOf({
  chain_id,
  token_address,
  session_id,
  recipient_address,
  unswept,
  ...period
}: Omit<Query, 'format'>): DepositFilters {
  return {
    chainId: chain_id,
    tokenAddress: token_address === undefined ? undefined : normalToken(token_address),
    sessionId: session_id,
    recipientAddress: recipient_address,
    unswept,
    ...periodOf(period),
  };
}

/** @throws HttpError 404 for one of another owner, too */
async function depositOf(handle: Handle, owner: Owner, address: string): Promise<DepositAddress> {
  const deposit = await depositListing(handle).find(owner, address);
  if (deposit === undefined) throw resourceNotFound('deposit_address', address);
  return deposit;
}

/** Addresses that a request names, or those with the oldest money after a given one. @throws InvalidBody for one that was not issued */
async function chosen(
  listing: DepositListing,
  owner: Owner,
  { chain_id: chainId, addresses: named }: PaymentsSchemas['SweepPreparation'],
  after: DepositAddress | undefined,
): Promise<{ addresses: readonly DepositAddress[]; hasMore: boolean }> {
  if (named === undefined) {
    const addresses = await listing.sweepable(owner, chainId, MOST_ADDRESSES + 1, after);
    return { addresses: addresses.slice(0, MOST_ADDRESSES), hasMore: addresses.length > MOST_ADDRESSES };
  }
  const addresses = await listing.named(owner, chainId, named);
  const known = new Set(addresses.map(({ address }) => address));
  const unknown = named.find(address => !known.has(address.toLowerCase()));
  if (unknown !== undefined)
    throw new InvalidBody(
      'addresses',
      `must be deposit addresses on chain ${chainId}, and ${unknown} is none`,
    );
  return { addresses, hasMore: false };
}

function planBody(
  chainId: number,
  { gasPrice, parts }: SweepPlan,
  leftOut: readonly LeftOut[],
): Omit<PaymentsSchemas['SweepPlan'], 'has_more'> {
  return {
    object: 'sweep_plan',
    chain_id: chainId,
    gas_price: gasPrice.toString(),
    transactions: parts.map(({ factory, data, gas, paid }) => ({
      to: factory.address.toLowerCase(),
      value: '0',
      data,
      gas: Number(gas),
      fee: (gas * gasPrice).toString(),
      items: paid.map(({ holding: { from }, amount }) => ({ ...named(from), amount: amount.toString() })),
    })),
    left_out: leftOut.map(({ from, reason }) => ({ ...named(from), reason })),
  };
}

function named({ address, tokenAddress }: DepositAddress) {
  return { address: getAddress(address), token_address: tokenAddress };
}
