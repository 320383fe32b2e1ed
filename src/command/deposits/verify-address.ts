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
import { API_OPTIONS, type ApiServer, apiClient, apiServerOf, done, URL_HELP } from '../api/client.ts';
import { parsedFile, readSeed, SEED_USAGE } from './seed-file.ts';

const USAGE = `Usage: tollgate verify-address ADDRESS --recipient ADDRESS (--salt HASH | --seed FILE --number N)
       tollgate verify-address FILE [--recipient ADDRESS]
       tollgate verify-address SESSION [--recipient ADDRESS] [--url URL]

  Proves that a deposit address can only pay a recipient: it follows from the factory, the recipient and the salt. That is
  computed here and needs no node. For a session, a payments server is asked for the address and the salt, with the API key
  in TOLLGATE_KEY, and its answer is computed again here.

  FILE                     {"address": "0x…", "recipient": "0x…", "salt": "0x…", "factory_version": 1}, or an answer of
                           /api/v1/deposit-addresses/{address}; - for standard input
  SESSION                  id of a checkout session, cs_…
  --recipient ADDRESS      account that is to be paid
  --url URL                ${URL_HELP}
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
      key: API_OPTIONS.key,
      url: { type: 'string' },
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
  const { recipient, 'factory-version': version, key, url } = values;
  const kind = kindOf(subject);
  for (const name of Object.keys(values)) checkOption(name, kind);
  const { address, ...stated } =
    kind === 'address'
      ? {
          address: addressOf(subject, 'ADDRESS'),
          recipient: addressOf(recipient, '--recipient'),
          salts: await saltsOf(values),
          factory: factoryNamed(numberOption('factory-version', version) ?? CURRENT_FACTORY.version),
        }
      : kind === 'session'
        ? await statementOfSession(subject, apiServerOf({ key, url }))
        : statementOf(parsedFile(await readInput(subject), subject), subject);
  if (recipient !== undefined && !isAddressEqual(addressOf(recipient, '--recipient'), stated.recipient))
    throw new Refused(`${address} is said to pay ${stated.recipient}, and not ${recipient}.`);
  prove(address, stated);
}

type Subject = 'address' | 'session' | 'file';

function kindOf(subject: string): Subject {
  if (/^0x/i.test(subject)) return 'address';
  return subject.startsWith('cs_') ? 'session' : 'file';
}

/** @throws UsageError for an option that the subject does not take */
function checkOption(name: string, kind: Subject): void {
  const isOfServer = name === 'key' || name === 'url';
  if (isOfServer && kind !== 'session') throw new UsageError(`--${name}: only a session is asked for`);
  if (!isOfServer && name !== 'recipient' && kind !== 'address')
    throw new UsageError(`--${name}: a ${kind} says it by itself`);
}

/** Asks a server for the deposit address of a session. @throws Refused when the session has none */
async function statementOfSession(id: string, server: ApiServer): Promise<AddressStatement> {
  const client = apiClient(server);
  const session = await done<unknown>(client, {
    path: `/api/v1/checkout-sessions/${encodeURIComponent(id)}`,
  });
  const shown = isObject(session) ? session.deposit_address : undefined;
  if (typeof shown !== 'string')
    throw new Refused(`The session ${id} has no deposit address: it asks for an exact amount.`);
  const path = `/api/v1/deposit-addresses/${encodeURIComponent(shown)}`;
  const statement = statementOf(await done<unknown>(client, { path }), path);
  if (!isAddressEqual(statement.address, addressOf(shown, 'deposit_address')))
    throw new Refused(`The server was asked about ${shown}, and answered about ${statement.address}.`);
  return statement;
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

/** An address with what it follows from, as a file or a server states it. `source` names it in messages. */
function statementOf(content: unknown, source: string): AddressStatement {
  if (!isObject(content))
    throw new Refused(`${source}: must be a JSON object with address, recipient and salt.`);
  const {
    address,
    recipient_address,
    recipient = recipient_address,
    salt,
    factory_version: version,
  } = content;
  return {
    address: addressOf(address, `${source}: address`),
    recipient: addressOf(recipient, `${source}: recipient`),
    salts: [saltOf(salt, `${source}: salt`)],
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
