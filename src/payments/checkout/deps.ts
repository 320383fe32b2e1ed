import type { Db } from '../../db/open.ts';
import type { Client } from '../../http/client-address.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Seals } from '../secrets/sealed.ts';
import type { Surroundings } from './bodies.ts';
import type { IsChainLate } from './shown-states.ts';
import type { StateWaits } from './state-waits.ts';

/** Whether a wallet, an account or a contract, signed a text. Source: EIP-191, EIP-1271. */
export type VerifySignature = (input: {
  readonly chainId: number;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
  /** Whether a contract cannot have signed. */
  readonly isAccount: boolean;
}) => Promise<boolean>;

/** Part of a payer's request that the operations look at beside its parameters and body. */
export interface PayerRequest {
  readonly client: Client;
  /** `Origin` of the page that asks; undefined when there is none. */
  readonly origin: string | undefined;
  /** `If-None-Match`: the state that the payer holds already. */
  readonly ifNoneMatch: string | undefined;
  /** A signal that aborts when the payer hangs up. */
  readonly hungUp: () => AbortSignal;
}

/** What the payer's operations are made from. */
export interface CheckoutDeps extends Surroundings {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  /** How long a payer has. */
  readonly sessionLifetimeMs: number;
  readonly verifySignature: VerifySignature;
  readonly isChainLate: IsChainLate;
  readonly waits: Pick<StateWaits, 'change'>;
}
