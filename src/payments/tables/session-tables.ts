import type { StoredBoolean } from '#db/columns.ts';
import type { MatchedBy, TransactionStatus } from '../model/payment-transaction.ts';
import type { RecipientProof } from '../model/recipient.ts';
import type { FailureReason, PaymentStatus, SessionStatus } from '../model/session.ts';
import type { BlockPart, SetAsideReason } from '../model/set-aside.ts';
import type { OwnerColumns } from './organization-tables.ts';

export interface LinkRow extends OwnerColumns {
  id: string;
  short_code: string;
  name: string;
  description: string | null;
  is_active: StoredBoolean;
  amount: string | null;
  min_amount: string | null;
  max_amount: string | null;
  suggested_amount: string | null;
  chain_id: number;
  token_address: string;
  recipient_address: string;
  image_url: string | null;
  theme_color: string | null;
  button_text: string;
  return_url: string | null;
  return_label: string | null;
  branding: string | null;
  form_schema: string | null;
  shipping_options: string;
  collect_shipping_address: StoredBoolean;
  items: string;
  max_uses: number | null;
  current_uses: number;
  expires_at: number | null;
  metadata: string;
  created_at: number;
  updated_at: number;
  search_text: string;
}

export interface SessionRow extends OwnerColumns {
  id: string;
  payment_link_id: string | null;
  status: SessionStatus;
  payment_status: PaymentStatus;
  chain_id: number;
  token_address: string;
  recipient_address: string;
  subtotal: string;
  amount: string;
  amount_due: string;
  is_wallet_only: StoredBoolean;
  amount_received: string;
  presentation: string;
  payer_address: string | null;
  tx_hash: string | null;
  confirmations: number;
  required_confirmations: number;
  transaction_id: string | null;
  failure_reason: FailureReason | null;
  is_late: StoredBoolean;
  is_reorged: StoredBoolean;
  success_url: string | null;
  cancel_url: string | null;
  client_reference_id: string | null;
  metadata: string;
  sealed_customer: string | null;
  shipping_option: string | null;
  expires_at: number;
  created_at: number;
  updated_at: number;
  completed_at: number | null;
  ended_at: number | null;
  client_hash: string | null;
  is_price_round: StoredBoolean;
}

export interface TransactionRow extends OwnerColumns {
  id: string;
  status: TransactionStatus;
  payment_link_id: string | null;
  session_id: string;
  chain_id: number;
  token_address: string;
  amount: string;
  sender: string | null;
  recipient: string;
  tx_hash: string | null;
  log_index: number | null;
  block_number: number | null;
  block_hash: string | null;
  block_time: number | null;
  confirmations: number;
  required_confirmations: number;
  matched_by: MatchedBy;
  failure_reason: FailureReason | null;
  is_late: StoredBoolean;
  is_duplicate: StoredBoolean;
  is_partial: StoredBoolean;
  overpaid_amount: string | null;
  nonce: number | null;
  created_at: number;
  confirmed_at: number | null;
  completed_at: number | null;
}

export interface TransferRow extends OwnerColumns {
  id: string;
  chain_id: number;
  tx_hash: string;
  log_index: number;
  block_number: number;
  block_hash: string;
  block_time: number;
  token_address: string;
  sender: string;
  recipient: string;
  amount: string;
  confirmed_at: number | null;
  suggested_session_id: string | null;
  session_id: string | null;
  transaction_id: string | null;
  created_at: number;
  assigned_at: number | null;
}

export interface RecipientRow extends OwnerColumns {
  id: string;
  chain_id: number;
  address: string;
  is_owner: StoredBoolean;
  proof: RecipientProof | null;
  proven_at: number | null;
  nonce: string;
  nonce_issued_at: number;
  created_at: number;
}

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
    transactions: TransactionRow;
    unmatched_transfers: TransferRow;
    recipients: RecipientRow;
    chain_cursors: {
      chain_id: number;
      block_number: number;
      scanned_at: number;
      head_time: number | null;
      coins_block: number | null;
      settled_block: number | null;
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
