import { type Address, type Hash, isAddressEqual } from 'viem';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { sweepOutcomes } from '#deposits/sweep-call.ts';
import { sweepParts } from '#deposits/sweep-parts.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { amountText } from '#payments/amounts/token-amount.ts';
import { CHAIN_USAGE, type ChainOptions, type OpenedChain, onChain } from './chain-option.ts';
import { assetsOf, type Holding, holdingsOf, numberedAddresses } from './holdings.ts';
import { requireSameRecipient } from './recipient-elsewhere.ts';
import { readSeed, SEED_USAGE } from './seed-file.ts';
import { KEY_USAGE, type Sender, senderOf } from './sender.ts';
import { addressOf } from './verify-address.ts';

const USAGE = `Usage: tollgate sweep --seed FILE --recipient ADDRESS --scan FROM..TO --chain ID [--config FILE | --rpc URL]
                      [--issued-for ID] [--token ADDRESS] [--min ASSET=AMOUNT] [--key FILE | --dry-run]

  Finds the deposit addresses of a recipient that hold something, and has them pay it, many in each transaction. Needs no
  database. Anyone can send it: the money can only go to the recipient. Sweep an address only after its checkout has ended:
  senders that give exactly 21,000 gas cannot pay it afterwards.

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
  if (file === undefined) throw new UsageError('--seed is missing');
  if (!isDry && values.key === undefined) throw new UsageError('--key is missing, or --dry-run');
  if (file === '-' && values.key === '-')
    throw new UsageError('only one of --seed and --key can be standard input');
  const recipient = addressOf(values.recipient, '--recipient');
  const tokens = values.token.map(one => addressOf(one, '--token'));
  const range = rangeOf(values.scan);
  const seed = await readSeed(file);
  await onChain(values, async chain => {
    await requireFactory(chain);
    await requireRecipient(chain, recipient, values);
    const sender = isDry ? undefined : await senderOf(chain, values.key);
    const assets = await assetsOf(chain, { tokens, least: values.min });
    const found: Holding[] = [];
    for await (const holding of holdingsOf(chain, numberedAddresses({ seed, recipient, ...range }), assets)) {
      found.push(holding);
      print(`found  ${lineOf(holding)}`);
    }
    if (found.length === 0) print('no address holds anything');
    await sweepAll(chain, sender, found);
  });
}

async function requireRecipient(
  here: OpenedChain,
  recipient: Address,
  { 'issued-for': issuedFor, config, rpc }: ChainOptions & { 'issued-for'?: string | undefined },
): Promise<void> {
  if (issuedFor === undefined) return;
  if (rpc !== undefined) throw new UsageError('--issued-for needs a configuration in place of --rpc');
  await onChain({ chain: issuedFor, config }, issued => requireSameRecipient(recipient, { issued, here }));
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
