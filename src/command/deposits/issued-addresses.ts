import { type Address, getAddress } from 'viem';
import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { UsageError } from '#lib/command-line.ts';
import { withLocation } from '#lib/startup-error.ts';
import { depositListing } from '#payments/deposits/deposit-listing.ts';
import { paymentsServiceOptions } from '#payments/from-config.ts';
import type { DepositAddress } from '#payments/model/recipient.ts';
import { openPaymentsDatabase } from '#payments/open-store.ts';
import type { FoundAddress } from './holdings.ts';

/** Choice among the deposit addresses of an installation. */
export interface IssuedSearch {
  readonly config: string | undefined;
  /** Chain of their checkouts. */
  readonly chainId: number;
  /** Any when absent. */
  readonly recipient: Address | undefined;
  /** True for addresses, too, on which no money is known. */
  readonly areAll: boolean;
}

/** Addresses that one statement reads. */
const PART = 500;

/**
 * Yields the deposit addresses of ended checkouts of all organizations, the oldest first, from the payments database of a
 * configuration. @throws UsageError, or the errors of a start
 */
export async function* issuedAddresses({
  config: file,
  ...search
}: IssuedSearch): AsyncGenerator<FoundAddress> {
  const config = loadConfig({ env: readEnvironment().variables, file });
  if (config.file === undefined)
    throw new UsageError('--seed is missing, and so is a configuration with a payments database');
  const { database } = paymentsServiceOptions(config, { embedded: undefined, dataUrl: undefined });
  const db = await openPaymentsDatabase(database).catch(error => {
    throw withLocation(error, config.locationOf);
  });
  try {
    let after: DepositAddress | undefined;
    do {
      const some = await depositListing(db).ended(search, PART, after);
      for (const { address, recipientAddress, salt, sessionId } of some)
        yield {
          address: getAddress(address),
          recipient: getAddress(recipientAddress),
          salt,
          title: `checkout ${sessionId}`,
        };
      after = some.length < PART ? undefined : some.at(-1);
    } while (after !== undefined);
  } finally {
    await db.destroy();
  }
}
