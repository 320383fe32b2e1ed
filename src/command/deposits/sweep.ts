import { type Address, type Hash, isAddressEqual } from 'viem';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { sweepOutcomes } from '#deposits/sweep-call.ts';
import { sweepParts } from '#deposits/sweep-parts.ts';
import { numberOption, Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { amountText } from '#payments/amounts/token-amount.ts';
import { CHAIN_USAGE, type ChainOptions, type OpenedChain, onChain } from './chain-option.ts';
import { assetsOf, type Holding, holdingsOf, numberedAddresses } from './holdings.ts';
import { issuedAddresses } from './issued-addresses.ts';
import { recipientFault } from './recipient-elsewhere.ts';
import { readSeed, SEED_USAGE } from './seed-file.ts';
import { KEY_USAGE, type Sender, senderOf } from './sender.ts';
import { addressOf } from './verify-address.ts';

const USAGE = `Usage: tollgate sweep --chain ID --config FILE [--recipient ADDRESS] [--all]
       tollgate sweep --chain ID --seed FILE --recipient ADDRESS --scan FROM..TO [--config FILE | --rpc URL]
       both: [--issued-for ID] [--token ADDRESS] [--min ASSET=AMOUNT] (--key FILE | --dry-run)

  Finds deposit addresses that hold something, and has them pay their recipients, many in each transaction. The first form takes
  the addresses of ended checkouts from the payments database of the configuration. The second needs no database: it
  finds them by an exported seed. Sweep them only after their checkouts have ended: senders that give exactly 21,000
  gas cannot pay an address that was swept. Anyone can send a sweep: the money can only go to the recipient.

  --all                    look at every address of an ended checkout, not only at those with money that the database knows
${SEED_USAGE}
  --recipient ADDRESS      account that the addresses pay
  --scan FROM..TO          numbers to look at under each epoch, both included, such as 0..999
${CHAIN_USAGE}
  --issued-for ID          chain of their checkouts, if it is another one. A recipient with code must then have the same
                           code on both, and the same owners; needs a configuration with both chains
  --token ADDRESS          a token to look for, in addition to those of the configuration; can be repeated
  --min ASSET=AMOUNT       leave smaller amounts where they are, for example USDC=5; can be repeated
${KEY_USAGE}
  --dry-run                only show what would be paid
  --help                   print this

Exits with 1 when something that was found could not be paid.
`;

/** Sweeps deposit addresses. @throws UsageError, Refused */
export async function runSweep(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      seed: { type: 'string' },
      recipient: { type: 'string' },
      scan: { type: 'string' },
      all: { type: 'boolean', default: false },
      chain: { type: 'string' },
      config: { type: 'string' },
      rpc: { type: 'string' },
      'issued-for': { type: 'string' },
      token: { type: 'string', multiple: true, default: [] },
      min: { type: 'string', multiple: true, default: [] },
      key: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const { seed: file, 'dry-run': isDry } = values;
  if (!isDry && values.key === undefined) throw new UsageError('--key is missing, or --dry-run');
  if (file === '-' && values.key === '-')
    throw new UsageError('only one of --seed and --key can be standard input');
  const tokens = values.token.map(one => addressOf(one, '--token'));
  const addresses = file === undefined ? issuedOf(values) : await numberedOf(file, values);
  await onChain(values, async chain => {
    await requireFactory(chain);
    const sender = isDry ? undefined : await senderOf(chain, values.key);
    const assets = await assetsOf(chain, { tokens, least: values.min });
    const found: Holding[] = [];
    for await (const holding of holdingsOf(chain, addresses, assets)) {
      found.push(holding);
      print(`found  ${lineOf(holding)}`);
    }
    if (found.length === 0) print('no address holds anything');
    await sweepAll(chain, sender, await permitted(chain, found, values));
  });
}

interface AddressOptions extends ChainOptions {
  readonly 'issued-for'?: string | undefined;
  readonly recipient?: string | undefined;
  readonly scan?: string | undefined;
  readonly all: boolean;
}

/** Addresses under a seed. @throws UsageError, Refused */
async function numberedOf(file: string, { recipient: text, scan, all }: AddressOptions) {
  if (all) throw new UsageError('--all: with --seed, --scan says which addresses are looked at');
  const recipient = addressOf(text, '--recipient');
  const range = rangeOf(scan);
  return numberedAddresses({ seed: await readSeed(file), recipient, ...range });
}

/** Addresses of the installation. @throws UsageError */
function issuedOf({ 'issued-for': issuedFor, chain, config, rpc, recipient, scan, all }: AddressOptions) {
  if (scan !== undefined || rpc !== undefined)
    throw new UsageError(`--${scan === undefined ? 'rpc' : 'scan'} needs --seed`);
  const chainId = numberOption('issued-for', issuedFor) ?? numberOption('chain', chain);
  if (chainId === undefined) throw new UsageError('--chain is missing');
  return issuedAddresses({
    config,
    chainId,
    recipient: recipient === undefined ? undefined : addressOf(recipient, '--recipient'),
    // What lies there on another chain is in no database.
    areAll: all || issuedFor !== undefined,
  });
}

/** Holdings whose recipients are the same on the chain of the checkouts. The others are left, and say why. */
async function permitted(
  here: OpenedChain,
  found: readonly Holding[],
  { 'issued-for': issuedFor, config, rpc }: AddressOptions,
): Promise<readonly Holding[]> {
  if (issuedFor === undefined) return found;
  if (rpc !== undefined) throw new UsageError('--issued-for needs a configuration in place of --rpc');
  return onChain({ chain: issuedFor, config }, async issued => {
    const recipients = [...new Set(found.map(({ from }) => from.recipient))];
    const faults = new Map<Address, string | undefined>();
    for (const one of recipients) faults.set(one, await recipientFault(one, { issued, here }));
    return found.filter(holding => {
      const fault = faults.get(holding.from.recipient);
      if (fault !== undefined) printLeft(holding, fault);
      return fault === undefined;
    });
  });
}

async function requireFactory({ id, client }: OpenedChain): Promise<void> {
  const { kind } = await checkFactory(client);
  if (kind === 'absent')
    throw new Refused(
      `Chain ${id} has no deposit factory; deploy it with "tollgate deposit-factory deploy --chain ${id}".`,
    );
  if (kind === 'broken') throw new Refused(`The deposit factory of chain ${id} does not work.`);
}

/** Sends the transactions of a sweep one after another, or only prints what they would pay. */
async function sweepAll(
  chain: OpenedChain,
  sender: Sender | undefined,
  found: readonly Holding[],
): Promise<void> {
  for await (const { paid, left, data } of sweepParts(chain.client, found)) {
    for (const { holding, reason } of left) printLeft(holding, reason);
    if (paid.length === 0) continue;
    if (sender === undefined) {
      for (const { holding, amount } of paid) print(`would pay  ${lineOf({ ...holding, amount })}`);
      continue;
    }
    const { logs, transactionHash, gasUsed } = await sender.send({ to: CURRENT_FACTORY.address, data });
    const sent = paid.map(({ holding }) => holding);
    printOutcomes(sent, { outcomes: sweepOutcomes(logs), transactionHash });
    print(`transaction ${transactionHash}: ${gasUsed} gas`);
  }
}

function printOutcomes(
  part: readonly Holding[],
  { outcomes, transactionHash }: { outcomes: ReturnType<typeof sweepOutcomes>; transactionHash: Hash },
): void {
  for (const holding of part) {
    const outcome = outcomes.find(
      ({ forwarder, token }) =>
        isAddressEqual(forwarder, holding.from.address) && isSame(token, holding.asset.token),
    );
    if (outcome === undefined) print(`gone  ${lineOf(holding)}: another sweep was first`);
    else if (outcome.amount === null) printLeft(holding, `it failed in ${transactionHash}`);
    else print(`paid  ${lineOf({ ...holding, amount: outcome.amount })}`);
  }
}

function isSame(one: Holding['asset']['token'], other: Holding['asset']['token']): boolean {
  return one === null || other === null ? one === other : isAddressEqual(one, other);
}

function printLeft(holding: Holding, reason: string): void {
  print(`left  ${lineOf(holding)}: ${reason}`);
  process.exitCode = 1;
}

function lineOf({ from: { address, title }, asset, amount }: Holding): string {
  return `${address}  ${title}  ${amountText(amount, asset)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function rangeOf(text: string | undefined): { from: number; to: number } {
  const [, from = '', to = ''] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text ?? '') ?? [];
  if (to === '' || Number(from) > Number(to))
    throw new UsageError('--scan: must be FROM..TO, such as 0..999');
  return { from: Number(from), to: Number(to) };
}
