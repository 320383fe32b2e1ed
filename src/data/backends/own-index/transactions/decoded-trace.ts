import { type Hex, isHex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import { inputInWords, resultInWords } from '#evm/abi/decode.ts';
import type { DecodingBudget } from '#evm/abi/decoding-budget.ts';
import { lowerCase } from '#evm/address.ts';

type RawTrace = ExplorerSchemas['RawTrace'];
type DecodedCall = ExplorerSchemas['DecodedCall'];

/** Calls of one trace that are decoded (Decision 435). */
const DECODED_CALLS = 3_000;
/** Encoded arguments, results and reasons of one trace that are decoded, in bytes. */
const DECODED_BYTES = 1_000_000;

/** Adds to the calls of a trace what known ABIs say about them. */
export function decodedTrace(abis: Abis, items: readonly RawTrace[]): RawTrace[] {
  const budget: DecodingBudget = { left: DECODED_BYTES };
  return items.map((item, index) => {
    if (index >= DECODED_CALLS || budget.left <= 0) return item;
    const decoded = decodedCall(abis, item, budget);
    return decoded === null ? item : { ...item, decoded };
  });
}

function decodedCall(
  abis: Abis,
  { action, result, error }: RawTrace,
  budget: DecodingBudget,
): DecodedCall | null {
  const to = hexIn(action.to);
  const input = hexIn(action.input);
  const output = hexIn(result?.output);
  const called = to === null || input === null ? null : abis.callOf({ to, input }, budget);
  const call = called === null ? null : inputInWords(called);
  const reason =
    error === undefined || output === null || output === '0x' ? null : reasonOf(abis, { to, output }, budget);
  if (call === null && reason === null) return null;
  return {
    method_call: call?.signature ?? null,
    method_id: call?.selector.slice(2) ?? null,
    parameters: call?.parameters ?? [],
    result:
      called?.outputs === undefined || error !== undefined || output === null
        ? null
        : resultInWords(called.outputs, output, budget),
    revert_reason: reason,
  };
}

/** Reason of a failure. It is charged by its length, because every known ABI is tried. */
function reasonOf(
  abis: Abis,
  failure: { to: Hex | null; output: Hex },
  budget: DecodingBudget,
): string | null {
  budget.left -= failure.output.length / 2;
  return budget.left < 0 ? null : abis.decodeRevert(failure);
}

function hexIn(value: string | undefined): Hex | null {
  return isHex(value) ? lowerCase(value) : null;
}
