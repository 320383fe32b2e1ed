/** A command of the program, loaded when it is called. */
export interface Command {
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
