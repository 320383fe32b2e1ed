import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#lib/clock.ts';
import { readArguments } from '#lib/command-line.ts';
import { reportLines, reportOf } from './report.ts';

const USAGE = `Usage: tollgate doctor [--config FILE] [options]

Tries everything that a configuration names: nodes, back ends, databases, mail server, bot and public addresses. Says for
each whether it works, and what to change where it does not. Nothing is sent, migrated or left behind.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG or the embedded default
  --role ROLE[,ROLE]       only what a process with these roles needs; those of the file when absent
  --json                   print one JSON object, for programs
  --help                   print this

Exits with 0 when nothing is at fault, with 1 when something is, and with 2 when the configuration is not valid.
`;

/** Bounds each check; all run side by side. */
const CHECK_WITHIN_MS = 5_000;

/** Tries everything that a configuration names. @throws UsageError or ConfigError */
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
    ...(values.config === undefined ? {} : { file: values.config }),
    argv: values.role.flatMap(role => ['--role', role]),
  });
  // Loaded here, because they load the clients of everything that is tried.
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
  // What is late holds connections, which nobody waits for any more.
  process.stdout.write(`${text}\n`, () => process.exit());
}
