import { BaseError, isAddressEqual } from 'viem';
import { CURRENT_FACTORY, FACTORY_SALT } from '#deposits/deposit-factory.ts';
import { creationCall, PROXY, PROXY_CODE, PROXY_CREATION } from '#deposits/deterministic-proxy.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { nodeReason } from '#node/client.ts';
import { CHAIN_USAGE, type OpenedChain, onChain } from './chain-option.ts';
import { awaitedReceipt, KEY_USAGE, type Sender, senderOf } from './sender.ts';

const USAGE = `Usage: tollgate deposit-factory deploy --chain ID [--config FILE | --rpc URL] [--key FILE]

  Deploys the factory of deposit addresses on a chain, and checks it. Anyone can do this, once per chain: the factory has
  the same bytes and the same address everywhere. A chain without the deterministic deployment proxy gets that first.
  Where the factory is deployed already, it is only checked, without a key.

${CHAIN_USAGE}
${KEY_USAGE}
  --help                   print this
`;

/** Deploys the deposit factory, unless a chain has it. @throws UsageError, Refused */
export async function runDepositFactory(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    options: {
      chain: { type: 'string' },
      config: { type: 'string' },
      rpc: { type: 'string' },
      key: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const [command, ...others] = positionals;
  if (command === undefined) throw new UsageError('a command is missing: deploy');
  if (command !== 'deploy') throw new UsageError(`there is no command ${command}; did you mean deploy?`);
  if (others.length > 0) throw new UsageError('deploy takes only options');
  await onChain(values, async chain => {
    const { version, address } = CURRENT_FACTORY;
    const said = (text: string) =>
      process.stdout.write(`factory version ${version} at ${address}: ${text}\n`);
    const { kind } = await stateOf(chain);
    if (kind === 'works') {
      said('is deployed, and creates addresses as computed offline');
      return;
    }
    const sender = await senderOf(chain, values.key);
    await ensureProxy(chain, sender);
    const data = creationCall(CURRENT_FACTORY.creationCode, FACTORY_SALT);
    const { transactionHash, gasUsed } = await sender.send({ to: PROXY, data });
    if ((await stateOf(chain)).kind !== 'works')
      throw new Refused(`Transaction ${transactionHash} did not deploy the factory at ${address}.`);
    said(`deployed by ${transactionHash} with ${gasUsed} gas, and creates addresses as computed offline`);
  });
}

/** @throws Refused for a chain on which no version can work */
async function stateOf({ id, client }: OpenedChain) {
  const state = await checkFactory(client);
  if (state.kind === 'broken')
    throw new Refused(
      `Chain ${id} cannot have deposit addresses: the factory at ${CURRENT_FACTORY.address} ${state.reason}.`,
    );
  return state;
}

/** Creates the deterministic deployment proxy by its keyless transaction, if a chain lacks it. @throws Refused */
async function ensureProxy({ id, client }: OpenedChain, sender: Sender): Promise<void> {
  const code = await client.request({ method: 'eth_getCode', params: [PROXY, 'latest'] });
  if (code === PROXY_CODE) return;
  if (code !== '0x') throw new Refused(`Chain ${id} has another contract than the proxy at ${PROXY}.`);
  const { sender: creator, raw, costWei, gas } = PROXY_CREATION;
  const needed = await client.public.estimateGas({ data: PROXY_CREATION.code });
  if (needed > gas) {
    throw new Refused(
      `Chain ${id} lacks the deterministic deployment proxy and asks for ${needed} gas to create it, but its ` +
        `transaction has ${gas}. Only the chain itself can add it (EIP-7997).`,
    );
  }
  const balance = await client.public.getBalance({ address: creator });
  if (balance < costWei) await sender.send({ to: creator, value: costWei - balance });
  const hash = await client.public.sendRawTransaction({ serializedTransaction: raw }).catch(cause => {
    if (!(cause instanceof BaseError)) throw cause;
    throw new Refused(
      `The node refused the transaction of the proxy: ${nodeReason(cause).replace(/\.$/, '')}. The coins for it stay at ${creator}: run the ` +
        'command again with a node that accepts transactions without a chain id.',
      { cause },
    );
  });
  const { contractAddress } = await awaitedReceipt(client.public, hash);
  if (contractAddress == null || !isAddressEqual(contractAddress, PROXY))
    throw new Refused(`Transaction ${hash} did not create the proxy.`);
  process.stdout.write(`proxy at ${PROXY}: created by ${hash}\n`);
}
