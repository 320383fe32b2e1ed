import { reportFailure } from '#config/failure.ts';
import { didYouMean } from '#lib/broken-rule.ts';
import { UsageError } from '#lib/command-line.ts';
import { build } from '#lib/version.ts';

const PROGRAM = 'tollgate';

/** Runs the program with a command and its arguments. Reports known failures in a sentence instead of rejecting. */
export async function runProgramCommand([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(overview());
  } else if (name === '--version') process.stdout.write(versionLine());
  else await runCommand(name, args);
}

/**
 * Runs one command and reports its failure in a sentence. Exit code 2 is for wrong usage or configuration, 1 for
 * others.
 */
export async function runCommand(name: string, args: readonly string[]): Promise<void> {
  endOnClosedPipe();
  const command = COMMANDS.find(one => one.name === name);
  try {
    if (command === undefined) throw unknownCommand(name);
    const run = await command.load();
    await run(args);
  } catch (error) {
    reportFailure(error, command === undefined ? PROGRAM : `${PROGRAM} ${name}`);
  }
}

function versionLine(): string {
  const { version, commit } = build();
  return commit === null ? `${version}\n` : `${version} (${commit})\n`;
}

function unknownCommand(name: string): UsageError {
  const known = COMMANDS.map(command => command.name);
  const meant = didYouMean(name, known);
  const word = name.startsWith('-') ? 'option' : 'command';
  return new UsageError(
    `Unknown ${word} '${name}'; ${meant === undefined ? `commands: ${known.join(', ')}` : `did you mean ${meant}?`}`,
  );
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Usage: ${PROGRAM} COMMAND [options]

${lines.join('')}
"${PROGRAM} COMMAND --help" shows the options of a command, "${PROGRAM} --version" the version.
In a checkout: npx ${PROGRAM} COMMAND, or npm run -s COMMAND -- [options].
`;
}

/**
 * Ends the program quietly when the reader of standard output, such as `head`, closes the pipe. Without this, Node
 * reports EPIPE with a stack trace.
 */
function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** A command of the program, loaded when it is called. */
interface Command {
  readonly name: string;
  /** One line of the overview. */
  readonly summary: string;
  /** Loads the command. The command resolves when it is done, prints its help for `--help`, and throws its failure. */
  readonly load: () => Promise<(args: readonly string[]) => Promise<void>>;
}

/** Every command of the program, in the order of the overview. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    summary: 'runs the data service and the payments platform',
    load: async () => (await import('../program/program.ts')).runProgram,
  },
  {
    name: 'chains',
    summary: 'prints a configuration for real chains',
    load: async () => (await import('./chains/chains.ts')).runChains,
  },
  {
    name: 'doctor',
    summary: 'checks everything that a configuration names, and says what to change',
    load: async () => (await import('./doctor/doctor.ts')).runDoctor,
  },
  {
    name: 'migrate',
    summary: 'migrates databases to the schema of this version, or shows its steps',
    load: async () => (await import('./migrate.ts')).runMigrate,
  },
  {
    name: 'index',
    summary: 'shows the blocks that an index lacks in part; verifies what it knows of the state',
    load: async () => (await import('./index/incomplete-blocks.ts')).runIndex,
  },
  {
    name: 'verify-proof',
    summary: 'checks the proof of a transaction against the hash of its block',
    load: async () => (await import('./verify-proof.ts')).runVerifyProof,
  },
  {
    name: 'verify-address',
    summary: 'proves offline that a deposit address can only pay its recipient',
    load: async () => (await import('./deposits/verify-address.ts')).runVerifyAddress,
  },
  {
    name: 'sweep',
    summary: 'finds deposit addresses that hold money, and has them pay their recipient',
    load: async () => (await import('./deposits/sweep.ts')).runSweep,
  },
  {
    name: 'deposit-factory',
    summary: 'deploys the factory of deposit addresses on a chain',
    load: async () => (await import('./deposits/deposit-factory.ts')).runDepositFactory,
  },
  {
    name: 'keys',
    summary: 'manages organizations, API keys and owners of recipient addresses',
    load: async () => (await import('./keys/keys.ts')).runKeys,
  },
  {
    name: 'links',
    summary: 'creates and lists payment links',
    load: async () => (await import('./api/links.ts')).runLinks,
  },
  {
    name: 'listen',
    summary: 'forwards events to a receiver on this machine',
    load: async () => (await import('./listen/listen.ts')).runListen,
  },
  {
    name: 'trigger',
    summary: 'makes a test event',
    load: async () => (await import('./api/trigger.ts')).runTrigger,
  },
];
