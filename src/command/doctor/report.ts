import type { Config } from '#config/config.ts';
import { cutAddresses } from '#lib/logger.ts';
import type { Check, Finding } from './check.ts';
import { hidingSecrets } from './secrets.ts';

/** A check and its finding. */
export interface CheckedSetting {
  readonly check: Check;
  readonly finding: Finding;
}

/** One check in the JSON report. */
interface ReportedCheck extends Finding {
  readonly setting: string;
  /** Line of the setting in the file, or of its nearest parent key; null for a default. */
  readonly line: number | null;
  readonly subject: string;
}

/** All checks in the order of the file, without the secrets of the configuration. */
export interface Report {
  readonly config: string;
  /** True when nothing is at fault. */
  readonly ok: boolean;
  readonly checks: readonly ReportedCheck[];
}

const AFTER_ALL = Number.POSITIVE_INFINITY;

/** Builds the report. */
export function reportOf(checked: readonly CheckedSetting[], config: Config): Report {
  // Addresses are not cut from advice: it is our own text and may show the form of an address.
  const hideKeys = hidingSecrets(config);
  const hide = (text: string) => hideKeys(cutAddresses(text));
  const checks = checked.map(({ check: { setting, subject }, finding: { state, detail, advice } }) => ({
    setting,
    line: config.lineOf(setting) ?? null,
    subject: hide(subject),
    state,
    detail: hide(detail),
    ...(advice === undefined ? {} : { advice: hideKeys(advice) }),
  }));
  return {
    config: config.file ?? 'the embedded default',
    ok: checks.every(({ state }) => state !== 'fault'),
    checks: checks.toSorted((a, b) => (a.line ?? AFTER_ALL) - (b.line ?? AFTER_ALL) || 0),
  };
}

/** The report for people: one line for each check, and one for its advice. */
export function reportLines({ config, checks }: Report): string[] {
  const faults = checks.filter(({ state }) => state === 'fault').length;
  const warnings = checks.filter(({ state }) => state === 'warning').length;
  return [
    ...checks.flatMap(({ state, line, setting, subject, detail, advice }) => [
      `${state.padEnd(7)}  ${line === null ? '' : `line ${line}, `}${setting}: ${subject}: ${detail}`,
      ...(advice === undefined ? [] : [`${' '.repeat(9)}${advice}`]),
    ]),
    `${config}: ${checks.length} checked, ${counted(faults, 'fault')}, ${counted(warnings, 'warning')}`,
  ];
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
