import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { Refused, UsageError } from '#lib/command-line.ts';
import { recordOperatorChange } from '#payments/audit/operator-changes.ts';
import { type PaymentChain, tokenOf } from '#payments/model/payment-chain.ts';
import type { ChainAddress, Recipient } from '#payments/model/recipient.ts';
import { recipientOwnership } from '#payments/recipients/recipient-ownership.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { namedOrganization, type Printed, type RecipientGiven } from './command-line.ts';
import { configured, parseChainId, recipientOf } from './link-terms.ts';

interface Surroundings {
  readonly chains: readonly PaymentChain[];
  readonly now: number;
}

/**
 * Lists recipients, assigns an owner or withdraws its proof (Decisions 136 and 139).
 * @throws Refused or UsageError
 */
export function runRecipientCommand(
  db: Db,
  given: RecipientGiven,
  { chains, now }: Surroundings,
): Promise<Printed> {
  const chainId = given.chain === undefined ? undefined : parseChainId(given.chain);
  if (given.action === 'list') return listRecipients(db, given.organization, chainId);
  const { address: text, organization } = given;
  if (chainId === undefined || text === undefined) throw new UsageError('an address and --chain are needed');
  const at = { chainId, address: recipientOf(text, `recipient ${given.action}`) };
  if (given.action === 'release') return release(db, at, now);
  if (organization === undefined) throw new UsageError('recipient assign needs --org');
  const chain = configured(chainId, chains);
  if (chain !== undefined && tokenOf(chain, at.address) !== undefined)
    throw new UsageError(`${at.address} is the contract of a token: payments to it would be lost`);
  const mode = chain?.mode ?? given.mode ?? 'test';
  if (given.mode !== undefined && given.mode !== mode) {
    throw new UsageError(`chain ${chainId} is configured for ${mode} mode`);
  }
  return transaction(db, async handle => {
    const { id: organizationId, name } = await namedOrganization(handle, organization);
    const recipient = await recipientStore(handle).name({ organizationId, mode }, at, now);
    const before = await recipientStore(handle).ownerOf(at);
    await recipientOwnership(handle).prove(recipient, 'operator', now);
    await recordOwner(handle, recipient, { action: 'assign', now });
    if (before !== undefined && before.id !== recipient.id)
      await recordOwner(handle, before, { action: 'release', command: 'assign', now });
    return { lines: [recipient.id], remarks: [`${at.address} on chain ${chainId} is owned by ${name}.`] };
  });
}

type RecordedAction = 'assign' | 'release';

/** Records for an organization that it owns an address now, or that it does no more for certain. */
function recordOwner(
  handle: Transaction,
  { id, organizationId, mode }: Recipient,
  { action, command = action, now }: { action: RecordedAction; command?: RecordedAction; now: number },
): Promise<void> {
  const change = { organizationId, modes: [mode], type: `recipient.${action}`, resourceId: id };
  return recordOperatorChange(handle, { ...change, command: `tollgate keys recipient ${command}` }, now);
}

function release(db: Db, at: ChainAddress, now: number): Promise<Printed> {
  return transaction(db, async handle => {
    const owner = await recipientStore(handle).ownerOf(at);
    if (owner === undefined) throw new Refused(`there is no recipient ${at.address} on chain ${at.chainId}`);
    await recipientOwnership(handle).withdrawProof(owner);
    await recordOwner(handle, owner, { action: 'release', now });
    const remark = 'Its owner is now provisional: another organization becomes the owner by a signature.';
    return { lines: [owner.id], remarks: [remark] };
  });
}

async function listRecipients(
  db: Db,
  organization: string | undefined,
  chainId: number | undefined,
): Promise<Printed> {
  const only = organization === undefined ? undefined : (await namedOrganization(db, organization)).id;
  const names = new Map((await organizationStore(db).list()).map(({ id, name }) => [id, name]));
  const all = await recipientStore(db).everybodys({ organizationId: only, chainId });
  return {
    lines: all.map(recipient => {
      const { id, address, organizationId, mode } = recipient;
      const columns = [id, mode, recipient.chainId, address];
      return [...columns, stateOf(recipient), names.get(organizationId) ?? organizationId].join('  ');
    }),
  };
}

function stateOf({ isOwner, proof, provenAt }: Recipient): string {
  if (!isOwner) return 'not the owner';
  if (proof === null || provenAt === null) return 'provisional owner';
  return `owner by ${proof} since ${new Date(provenAt).toISOString()}`;
}
