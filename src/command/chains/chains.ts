import { readArguments, UsageError } from '#lib/command-line.ts';
import { configFile } from './config-file.ts';
import {
  findChain,
  isUnmistakable,
  type KnownChain,
  readKnownChains,
  readPaymentTerms,
} from './find-chain.ts';

const USAGE = `Usage: tollgate chains [--pro] [--payments CHAIN]... [CHAIN]...  > FILE
       tollgate chains --list [TEXT]

Prints a configuration file for the chains, in the order of fallback. A CHAIN is an id, a name or a part of a
name that only one chain has: 1, ethereum, "op mainnet", base-sepolia. Upper and lower case are the same.

  --payments CHAIN
            a chain that also takes payments: adds public nodes, USDC and the settings of payments
  --pro     use Blockscout's gateway only, with the key in BLOCKSCOUT_PRO_KEY, for every chain
  --list    list the known chains, or those whose id, name or coin contains TEXT
  --help    print this
`;

/**
 * Prints a configuration file that serves real chains. @throws UsageError when a chain is unknown or its name ambiguous
 */
export async function runChains(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    allowPositionals: true,
    options: {
      payments: { type: 'string', multiple: true, default: [] },
      pro: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const known = readKnownChains();
  if (values.help) process.stdout.write(USAGE);
  else if (values.list) list(positionals.join(' '), known);
  else print({ positionals, ...values }, known);
}

function list(text: string, known: readonly KnownChain[]): void {
  const wanted = text.toLowerCase();
  const shown = known.filter(({ id, name, symbol }) =>
    `${id}\n${name}\n${symbol}`.toLowerCase().includes(wanted),
  );
  if (shown.length === 0) throw new UsageError(`no known chain has "${text}" in its id, name or coin`);
  for (const { id, name, symbol, url, testnet } of shown) {
    process.stdout.write(`${id}  ${name}${testnet ? ' [testnet]' : ''}  ${symbol}  ${url}\n`);
  }
}

interface NamedChains {
  /** Names of chains, as typed. */
  readonly positionals: readonly string[];
  /** Names of chains that take payments too. */
  readonly payments: readonly string[];
  readonly pro: boolean;
}

function print({ positionals, payments, pro }: NamedChains, known: readonly KnownChain[]): void {
  const texts = [...positionals, ...payments];
  if (texts.length === 0) throw new UsageError('name at least one chain');
  const found = texts.map(text => findChain(text, known));
  const faults = found.flatMap(one => ('fault' in one ? [one.fault] : []));
  const chains = found.flatMap(one => ('chain' in one ? [one.chain] : []));
  const twice = chains.filter((chain, index) => chains.indexOf(chain) < index);
  faults.push(...twice.map(({ id, name }) => `${name} (${id}) is named twice`));
  const terms = readPaymentTerms();
  const asked = chains.map((chain, index) =>
    index < positionals.length ? chain : { ...chain, payments: terms.get(chain.id) },
  );
  for (const chain of asked) {
    if (!('payments' in chain) || chain.payments !== undefined) continue;
    const served = known.filter(({ id }) => terms.has(id)).map(({ id, name }) => `${name} (${id})`);
    faults.push(
      `no node and token of ${chain.name} are known: name it without --payments, and write rpc and tokens yourself. Known are ${served.join(', ')}.`,
    );
  }
  if (faults.length > 0) throw new UsageError(`${faults.join('\n')}\n--list [TEXT] shows the known chains.`);
  for (const remark of unnamedTestnets(texts, chains)) process.stderr.write(`${remark}\n`);
  process.stdout.write(configFile(asked, { pro }));
}

/** Remarks on test networks named by a part of their name only: the user may have meant another chain. */
function unnamedTestnets(texts: readonly string[], chains: readonly KnownChain[]): string[] {
  return chains.flatMap((chain, index) => {
    const text = texts[index] ?? '';
    if (!chain.testnet || isUnmistakable(text, chain)) return [];
    return [`"${text}" is taken for ${chain.name} (${chain.id}), a test network.`];
  });
}
