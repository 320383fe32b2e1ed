import { type Address, getAddress, type Hex, isAddress, isAddressEqual, isHash, zeroAddress } from 'viem';
import {
  CURRENT_FACTORY,
  type DepositFactory,
  factoryOf,
  forwarderAddress,
} from '#deposits/deposit-factory.ts';
import { depositSalt } from '#deposits/salt.ts';
import { numberOption, Refused, readArguments, readInput, UsageError } from '#lib/command-line.ts';
import { isObject } from '#lib/json.ts';
import { parsedFile, readSeed, SEED_USAGE } from './seed-file.ts';

const USAGE = `Usage: tollgate verify-address ADDRESS --recipient ADDRESS (--salt HASH | --seed FILE --number N)
       tollgate verify-address FILE

  Proves offline that a deposit address can only pay a recipient: it follows from the factory, the recipient and the salt.

  FILE                     {"address": "0x…", "recipient": "0x…", "salt": "0x…", "factory_version": 1}; - for standard input
  --recipient ADDRESS      account that is paid
  --salt HASH              salt of the address
${SEED_USAGE}
  --number N               number of the address under the seed
  --factory-version N      version of the factory; ${CURRENT_FACTORY.version} when absent
  --help                   print this
`;

/** An address with what it is said to follow from. */
interface AddressStatement {
  readonly address: Address;
  readonly recipient: Address;
  /** Salts of which one has to lead to the address. */
  readonly salts: readonly Hex[];
  readonly factory: DepositFactory;
}

/** Proves a deposit address. @throws UsageError, Refused when it is another one */
export async function runVerifyAddress(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    options: {
      recipient: { type: 'string' },
      salt: { type: 'string' },
      seed: { type: 'string' },
      number: { type: 'string' },
      'factory-version': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const [subject, ...others] = positionals;
  if (subject === undefined) throw new UsageError('ADDRESS or FILE is missing');
  if (others.length > 0) throw new UsageError('only one address can be verified');
  const { recipient, 'factory-version': version } = values;
  const isFile = !/^0x/i.test(subject);
  const repeated = Object.keys(values)[0];
  if (isFile && repeated !== undefined) throw new UsageError(`--${repeated}: a file says it by itself`);
  const { address, ...stated } = isFile
    ? await statementIn(subject)
    : {
        address: addressOf(subject, 'ADDRESS'),
        recipient: addressOf(recipient, '--recipient'),
        salts: await saltsOf(values),
        factory: factoryNamed(numberOption('factory-version', version) ?? CURRENT_FACTORY.version),
      };
  prove(address, stated);
}

function prove(address: Address, { recipient, salts, factory }: Omit<AddressStatement, 'address'>): void {
  const salt = salts.find(one =>
    isAddressEqual(forwarderAddress({ recipient, salt: one }, factory), address),
  );
  if (salt === undefined)
    throw new Refused(`${address} does not follow from this factory, recipient and salt.`);
  process.stdout.write(
    `proven: ${address} can only pay ${recipient}\n` +
      `  factory version ${factory.version} at ${factory.address}, salt ${salt}\n`,
  );
}

async function statementIn(file: string): Promise<AddressStatement> {
  const content = parsedFile(await readInput(file), file);
  if (!isObject(content))
    throw new Refused(`${file}: must be a JSON object with address, recipient and salt.`);
  const { address, recipient, salt, factory_version: version } = content;
  return {
    address: addressOf(address, `${file}: address`),
    recipient: addressOf(recipient, `${file}: recipient`),
    salts: [saltOf(salt, `${file}: salt`)],
    factory: factoryNamed(version),
  };
}

async function saltsOf({
  salt,
  seed: file,
  number: text,
}: {
  salt?: string | undefined;
  seed?: string | undefined;
  number?: string | undefined;
}): Promise<Hex[]> {
  if (salt !== undefined && (file ?? text) !== undefined)
    throw new UsageError('only one of --salt and --seed can be given');
  if (salt !== undefined) return [saltOf(salt, '--salt')];
  const number = numberOption('number', text);
  if (file === undefined || number === undefined)
    throw new UsageError('--salt is missing, or --seed and --number in its place');
  const { seed, epochs } = await readSeed(file);
  return epochs.map(epoch => depositSalt({ seed, epoch, number }));
}

function factoryNamed(version: unknown): DepositFactory {
  const factory = typeof version === 'number' ? factoryOf(version) : undefined;
  if (factory === undefined) throw new UsageError(`there is no version ${version} of the factory`);
  return factory;
}

/** An account in a text, with its checksum. @throws UsageError */
export function addressOf(text: unknown, name: string): Address {
  if (typeof text !== 'string' || !isAddress(text))
    throw new UsageError(
      `${name}: must be 0x followed by 40 hexadecimal digits, with a correct checksum if they are in mixed case`,
    );
  if (text === zeroAddress) throw new UsageError(`${name}: must not be the zero address`);
  return getAddress(text);
}

function saltOf(text: unknown, name: string): Hex {
  if (typeof text !== 'string' || !isHash(text))
    throw new UsageError(`${name}: must be 0x followed by 64 hexadecimal digits`);
  return text;
}
