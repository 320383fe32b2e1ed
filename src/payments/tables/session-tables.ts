import type { Hex } from 'viem';
import type { StoredBoolean } from '#db/columns.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import type { PaymentMove, PaymentTransaction } from '../model/payment-transaction.ts';
import type { DepositAddress, DepositSweep, Recipient } from '../model/recipient.ts';
import type { Refund, StatedAddress } from '../model/refund.ts';
import type { CheckoutSession, Customer, CustomerRecord } from '../model/session.ts';
import type { BlockPart, SetAsideReason } from '../model/set-aside.ts';
import type { HashStatus, UnmatchedTransfer } from '../model/transfer.ts';
import type { OwnerColumns } from './organization-tables.ts';
import type { RowOfRecord } from './record-form.ts';

/** `search_text` holds the texts that a search compares, in upper case. */
export type LinkRow = RowOfRecord<PaymentLink> & {
  search_text: string;
  /** True while sessions of a link that has sold out are still to be ended. */
  ends_sessions: StoredBoolean;
};

/** The customer's data is one sealed column. */
export type SessionRow = RowOfRecord<Omit<CheckoutSession, keyof Customer>> & {
  sealed_customer: string | null;
  client_hash: string | null;
  is_price_round: StoredBoolean;
};

type PaymentTransactionRow = RowOfRecord<PaymentTransaction>;

type TransferRow = RowOfRecord<UnmatchedTransfer>;

type RefundRow = RowOfRecord<Refund>;

type RecipientRow = RowOfRecord<Recipient>;

/** Email address and name are one sealed column. */
export type CustomerRow = RowOfRecord<Omit<CustomerRecord, 'email' | 'name'>> & {
  email_hash: string | null;
  sealed_contact: string | null;
};

declare module 'knex/types/tables.js' {
  /** Tables of links, sessions and payments. */
  interface Tables {
    payment_links: LinkRow;
    short_codes: { code: string; payment_link_id: string };
    removed_sessions: OwnerColumns &
      Pick<SessionRow, 'chain_id' | 'token_address'> & {
        day: number;
        payment_link_id: string;
        sessions: number;
      };
    checkout_sessions: SessionRow;
    watched_recipients: OwnerColumns &
      Pick<SessionRow, 'chain_id' | 'token_address' | 'recipient_address'> & {
        last_session_at: number | null;
        /** Time of the first read by a leading watcher; null before. */
        read_at: number | null;
      };
    deposit_seeds: { organization_id: string; seed: Hex; created_at: number };
    deposit_epochs: { epoch: Hex; created_at: number; storage: string | null };
    deposit_numbers: { organization_id: string; epoch: Hex; next_number: number };
    deposit_addresses: RowOfRecord<DepositAddress> & {
      /** Of its session; null while that is open, and until the watcher has noticed. */
      ended_at: number | null;
      next_look_at: number | null;
      looked_block: number | null;
    };
    sweeps: RowOfRecord<DepositSweep>;
    unswept_notices: OwnerColumns & { chain_id: number; token_address: string; noticed_at: number };
    transactions: PaymentTransactionRow;
    payment_moves: RowOfRecord<PaymentMove>;
    customers: CustomerRow;
    /** Customers that are being erased. */
    customer_erasures: OwnerColumns & { customer_id: string; started_at: number };
    unmatched_transfers: TransferRow;
    /** Unmatched transfers with a decision or a refund that the chain dropped. `record` is their row as JSON. */
    dropped_transfers: Pick<TransferRow, 'id' | 'chain_id' | 'tx_hash' | 'amount_refunded'> & {
      record: string;
    };
    transfer_candidates: {
      transfer_id: string;
      session_id: string;
      match_rank: number;
      is_only: StoredBoolean;
    };
    reported_hashes: {
      session_id: string;
      chain_id: number;
      tx_hash: string;
      status: HashStatus;
      asked_at: number;
    };
    refunds: RefundRow;
    refund_addresses: RowOfRecord<StatedAddress>;
    refund_links: { token_hash: string; session_id: string; expires_at: number; used_at: number | null };
    recipients: RecipientRow;
    chain_cursors: {
      chain_id: number;
      block_number: number;
      scanned_at: number;
      head_time: number | null;
      coins_block: number | null;
      coin_logs_from: number | null;
      settled_block: number | null;
      traced_block: number | null;
      traced_hash: string | null;
      traced_time: number | null;
      traced_by: string | null;
      proven_block: number | null;
      proven_hash: string | null;
      swept_block: number | null;
      balances_time: number | null;
    };
    set_aside_transactions: {
      id: string;
      chain_id: number;
      tx_hash: string;
      reason: SetAsideReason;
      /** Number of attempts to read the receipt. */
      attempts: number;
      set_aside_at: number;
      attempted_at: number;
      next_attempt_at: number;
    };
    set_aside_blocks: {
      id: string;
      chain_id: number;
      part: BlockPart;
      block_number: number;
      block_hash: string;
      block_time: number;
      next_transaction: number;
      unread: string;
      reason: SetAsideReason;
      attempts: number;
      set_aside_at: number;
      attempted_at: number;
      next_attempt_at: number;
      read_at: number | null;
    };
    first_blocks: { chain_id: number; block_hash: string };
    scanned_blocks: { chain_id: number; block_number: number; block_hash: string; seen_at: number };
  }
}
