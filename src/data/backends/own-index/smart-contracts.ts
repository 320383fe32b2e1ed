import type { Hash, Hex } from 'viem';
import { DELEGATION_PREFIX, lowerCase } from '#evm/address.ts';
import { minimalProxyTarget } from '#evm/minimal-proxy.ts';
import type { Answers } from '../port/backend.ts';
import { smartContract } from './records/smart-contract.ts';
import { nodeCannot } from './source/mined.ts';
import { type IndexSource, missingFrom } from './source/source.ts';

/** Code that only points to another account's makes no contract: EIP-7702. */

/** A contract with what is known of its sources; its code from the node at the time of the request. */
export function smartContractAnswers(source: IndexSource): Pick<Answers, 'getSmartContract'> {
  const { reader } = source;
  return {
    async getSmartContract({ path }, { signal }) {
      const address = lowerCase(path.address_hash);
      const [head, creation] = await Promise.all([reader.head(), reader.contract(address)]);
      const code =
        head === null ? null : await reader.node.code({ address, blockNumber: head.number }, signal);
      if (code === null) throw nodeCannot('tell the code of a contract');
      const isContract = code !== '0x' && !code.startsWith(DELEGATION_PREFIX);
      if (!isContract && creation === null) throw missingFrom(source, `Contract ${path.address_hash}`);
      return {
        body: smartContract({
          known: reader.abis.knownContract(address),
          code: isContract ? code : null,
          creationInput:
            creation === null ? null : (creation.creationInput ?? (await inner(creation.transactionHash))),
          minimalProxyTarget: minimalProxyTarget(code),
        }),
      };

      /** A contract that another one created: only a trace holds the code that did it. */
      async function inner(hash: Hash): Promise<Hex | null> {
        const items = await reader.node.trace(hash, signal);
        const created = items?.findLast(({ result }) => result?.address?.toLowerCase() === address);
        return created?.action.init ?? null;
      }
    },
  };
}
