import { CannotStart } from '../../lib/startup-error.ts';

/** Operating system and processor of the machine. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
}

/** No engine on this machine. The message names the installation for it. */
export class EngineMissing extends CannotStart {
  /** `wanted` is the only engine that was searched for; undefined for any. */
  constructor(wanted: 'anvil' | 'edr' | undefined, machine: Machine) {
    const { platform, arch } = machine;
    const isInstalled = (wanted === 'anvil' ? ANVIL_MACHINES : EDR_MACHINES).includes(`${platform} ${arch}`);
    const ways = [...(isInstalled ? [INSTALL] : []), ...(wanted === 'edr' ? [] : [wayToAnvil(platform)])];
    const engine = wanted === undefined ? 'anvil or EDR' : `${wanted} (devnet.engine)`;
    super(
      `The embedded chains need ${engine}, which was not found`,
      `on ${SYSTEMS[platform] ?? platform} ${arch} ${ways.join(', or ') || 'leave devnet.engine out'}`,
      wanted === undefined ? undefined : 'devnet.engine',
    );
    this.name = 'EngineMissing';
  }
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS',
  linux: 'Linux',
  win32: 'Windows',
};

/** Systems for which npm has the engine. */
const EDR_MACHINES = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64'];
const ANVIL_MACHINES = ['linux x64'];
const INSTALL =
  'run "npm ci" (or install this package again) with Node 24 or newer and without --omit=optional';

function wayToAnvil(platform: NodeJS.Platform): string {
  const place = 'on PATH, or its full path into ANVIL_BIN';
  return platform === 'win32'
    ? `put the anvil.exe of a Foundry release (https://github.com/foundry-rs/foundry/releases) ${place}`
    : `install Foundry (https://getfoundry.sh) and put its anvil ${place}`;
}
