import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Owner } from './owner.ts';

/** An address on one chain. Hex is lower case. */
export interface ChainAddress {
  readonly chainId: number;
  readonly address: string;
}

/** Proof that an organization is paid at an address: a signature of the address, or the operator's word. */
export type RecipientProof = Exclude<PaymentsSchemas['Recipient']['verified_by'], null>;

/**
 * An address at which an organization is paid. Each address has one owner per chain (Decision 136). Times are UTC
 * milliseconds.
 */
export interface Recipient extends Owner, ChainAddress {
  readonly id: string;
  /** True for at most one recipient of a chain and address. */
  readonly isOwner: boolean;
  /** Null for an owner that holds the address provisionally, and for every recipient that is not the owner. */
  readonly proof: RecipientProof | null;
  readonly provenAt: number | null;
  /** Part of the text to sign; replaced after use. */
  readonly nonce: string;
  readonly nonceIssuedAt: number;
  readonly createdAt: number;
}

/** A random nonce of 128 bits, in hex. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/**
 * Text whose signature by the address proves that the organization is paid there. A signature is valid once, for this
 * organization, mode, chain, address and service only.
 */
export function verificationMessage(recipient: Recipient, publicUrl: string): string {
  return [
    `tollgate at ${new URL(publicUrl).host} asks who is paid at this address.`,
    '',
    `Organization: ${recipient.organizationId}`,
    `Mode: ${recipient.mode}`,
    `Chain: ${recipient.chainId}`,
    `Address: ${recipient.address}`,
    `Nonce: ${recipient.nonce}`,
    `Issued at: ${new Date(recipient.nonceIssuedAt).toISOString()}`,
    '',
    'Your signature lets this organization match payments to the address. Signing costs nothing and moves no money.',
  ].join('\n');
}

/** An address of a forwarder that was issued for one session, with all that is needed to sweep it. Hex is lower case. */
export interface DepositAddress extends Owner {
  readonly address: string;
  readonly chainId: number;
  /** Token of the session, `NATIVE_COIN` for coins. */
  readonly tokenAddress: string;
  /** The merchant's address, to which alone it can pay. */
  readonly recipientAddress: string;
  readonly factoryVersion: number;
  readonly epoch: Hex;
  /** Counted from 0 for each organization and epoch. */
  readonly number: number;
  readonly salt: Hex;
  readonly sessionId: string;
  /** Price of the session. */
  readonly amount: bigint;
  readonly clientReferenceId: string | null;
  /** UTC milliseconds. */
  readonly createdAt: number;
  /** Sum of its confirmed payments of the session's token. */
  readonly amountReceived: bigint;
  /** Sum of the session's token that left it by sweeps. */
  readonly amountSwept: bigint;
}

/** Money that left a deposit address for its recipient, as the factory logged it. Hex is lower case. */
export interface DepositSweep {
  readonly chainId: number;
  readonly txHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** UTC milliseconds. */
  readonly blockTime: number;
  /** The deposit address. */
  readonly address: string;
  /** `NATIVE_COIN` for coins. */
  readonly tokenAddress: string;
  readonly amount: bigint;
}
