import { BaseError, type Hash, isAddressEqual } from 'viem';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { type SweepItem, sweepInput, sweepOutcomes, sweptAmounts } from '#deposits/sweep-call.ts';
import { MAX_TRANSACTION_GAS } from '#devnet/chain/engine.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { NodeFailure } from '#node/transport/errors.ts';
import { amountText } from '#payments/amounts/token-amount.ts';
import { CHAIN_USAGE, nodeReason, type OpenedChain, onChain } from './chain-option.ts';
import { assetsOf, type Holding, holdingsOf } from './holdings.ts';
import { readSeed, SEED_USAGE } from './seed-file.ts';
import { KEY_USAGE, type Sender, senderOf } from './sender.ts';
import { addressOf } from './verify-address.ts';

const USAGE = `Usage: tollgate sweep --seed FILE --recipient ADDRESS --scan FROM..TO --chain ID [--config FILE | --rpc URL]
                      [--token ADDRESS] [--min ASSET=AMOUNT] [--key FILE | --dry-run]

  Finds the deposit addresses of a recipient that hold something, and has them pay it, many in each transaction. Needs no
  database. Anyone can send it: the money can only go to the recipient. Sweep an address only after its checkout has ended:
  senders that give exactly 21,000 gas cannot pay it afterwards.

${SEED_USAGE}
  --recipient ADDRESS      account that the addresses pay
  --scan FROM..TO          numbers to look at under each epoch, both included, such as 0..999
${CHAIN_USAGE}
  --token ADDRESS          a token to look for, in addition to those of the configuration; can be repeated
  --min ASSET=AMOUNT       leave smaller amounts where they are, for example USDC=5; can be repeated
${KEY_USAGE}
  --dry-run                only show what would be paid
  --help                   print this

Exits with 1 when something that was found could not be paid.
`;

/** Items of one transaction, unless they need too much gas. */
const BATCH = 50;

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
    const sender = isDry ? undefined : await senderOf(chain, values.key);
    const assets = await assetsOf(chain, { tokens, least: values.min });
    const found: Holding[] = [];
    for await (const holding of holdingsOf(chain, { seed, recipient, ...range }, assets)) {
      found.push(holding);
      print(`found  ${lineOf(holding)}`);
    }
    if (found.length === 0) print('no address holds anything');
    for (let first = 0; first < found.length; first += BATCH)
      await sweepPart(chain, sender, found.slice(first, first + BATCH));
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

/** Sweeps some holdings in one transaction, or in several when they need more gas than one can have. */
async function sweepPart(
  chain: OpenedChain,
  sender: Sender | undefined,
  part: readonly Holding[],
): Promise<void> {
  const tried = await tryPart(chain, part);
  if (typeof tried === 'string') {
    const [one] = part;
    if (part.length > 1) {
      const half = Math.ceil(part.length / 2);
      await sweepPart(chain, sender, part.slice(0, half));
      await sweepPart(chain, sender, part.slice(half));
    } else if (one !== undefined) printLeft(one, tried);
    return;
  }
  for (const holding of tried.refused) printLeft(holding, 'the token or the recipient refuses');
  if (tried.payable.length === 0) return;
  if (sender === undefined) {
    for (const { holding, amount } of tried.payable) print(`would pay  ${lineOf({ ...holding, amount })}`);
    return;
  }
  const data = sweepInput(tried.payable.map(({ holding }) => holding.item));
  const { logs, transactionHash, gasUsed } = await sender.send({ to: CURRENT_FACTORY.address, data });
  const sent = tried.payable.map(({ holding }) => holding);
  printOutcomes(sent, { outcomes: sweepOutcomes(logs), transactionHash });
  print(`transaction ${transactionHash}: ${gasUsed} gas`);
}

/** A part as a call would sweep it. */
interface TriedPart {
  readonly payable: readonly { readonly holding: Holding; readonly amount: bigint }[];
  readonly refused: readonly Holding[];
}

/** Tries a part without sending it. Returns the reason when it fails as a whole. @throws NodeFailure */
async function tryPart({ client }: OpenedChain, part: readonly Holding[]): Promise<TriedPart | string> {
  const call = (items: readonly SweepItem[]) => ({ to: CURRENT_FACTORY.address, data: sweepInput(items) });
  try {
    const output = await client.request({
      method: 'eth_call',
      params: [call(part.map(({ item }) => item)), 'latest'],
    });
    const amounts = sweptAmounts(output);
    const payable = part.flatMap((holding, index) => {
      const amount = amounts[index] ?? 0n;
      return amount === 0n ? [] : [{ holding, amount }];
    });
    const refused = part.filter((_, index) => (amounts[index] ?? 0n) === 0n);
    const gas =
      payable.length === 0
        ? 0n
        : await client.public.estimateGas(call(payable.map(({ holding }) => holding.item)));
    return gas > MAX_TRANSACTION_GAS ? `it needs ${gas} gas` : { payable, refused };
  } catch (error) {
    if (!(error instanceof BaseError) || error.walk(cause => cause instanceof NodeFailure) !== null)
      throw error;
    return nodeReason(error);
  }
}

function printOutcomes(
  part: readonly Holding[],
  { outcomes, transactionHash }: { outcomes: ReturnType<typeof sweepOutcomes>; transactionHash: Hash },
): void {
  for (const holding of part) {
    const outcome = outcomes.find(
      ({ forwarder, token }) =>
        isAddressEqual(forwarder, holding.address) && isSame(token, holding.asset.token),
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

function lineOf({ address, number, asset, amount }: Holding): string {
  return `${address}  number ${number}  ${amountText(amount, asset)}`;
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
