import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#lib/clock.ts';
import { readArguments } from '#lib/command-line.ts';
import { reportLines, reportOf } from './report.ts';

const USAGE = `Usage: tollgate doctor [--config FILE] [options]

Checks everything that a configuration names: nodes, back ends, databases, mail server, bot and public addresses. Says for
each whether it works, and what to change if it does not. Sends no messages, migrates nothing and leaves no traces.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG or the embedded default
  --role ROLE[,ROLE]       only what a process with these roles needs; those of the file when absent
  --json                   print one JSON object, for programs
  --help                   print this

Exits with 0 when there is no fault, with 1 when there is one, and with 2 when the configuration is not valid.
`;

/** Time limit of each check; all of them run concurrently. */
const CHECK_WITHIN_MS = 5_000;

/** Checks everything that a configuration names. @throws UsageError or ConfigError */
export async function runDoctor(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      config: { type: 'string' },
      role: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const { variables, anvilBin } = readEnvironment();
  const config = loadConfig({
    env: variables,
    file: values.config,
    argv: values.role.flatMap(role => ['--role', role]),
  });
  // Loaded late, because these modules load the clients of everything that is checked.
  const { configuredChecks } = await import('./configured-checks.ts');
  const { runCheck } = await import('./check.ts');
  const checked = await Promise.all(
    configuredChecks(config, { anvil: anvilBin, clock: systemClock }).map(async check => ({
      check,
      finding: await runCheck(check, CHECK_WITHIN_MS),
    })),
  );
  const report = reportOf(checked, config);
  const text = values.json ? JSON.stringify(report, undefined, 2) : reportLines(report).join('\n');
  process.exitCode = report.ok ? 0 : 1;
  // A check that timed out still holds connections, which would keep the process alive.
  process.stdout.write(`${text}\n`, () => process.exit());
}
