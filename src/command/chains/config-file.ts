import type { KnownChain } from './find-chain.ts';

const CONFIRMATIONS = 12;

/**
 * Configuration file in YAML that serves the chains from Blockscout, in this order.
 * `pro` uses the gateway only and requires BLOCKSCOUT_PRO_KEY. Otherwise the gateway comes before the instances that it
 * replaces, and the chains' own instances stay.
 */
export function configFile(chains: readonly KnownChain[], { pro }: { pro: boolean }): string {
  return [
    '# Configuration of tollgate: real chains, served from Blockscout. Their order is the order of fallback.',
    '#',
    pro
      ? '#   BLOCKSCOUT_PRO_KEY=proapi_... tollgate start --config FILE'
      : '#   tollgate start --config FILE       FILE is the name of this file',
    '#',
    ...(pro ? GATEWAY_NOTES : INSTANCE_NOTES),
    `# confirmations: blocks until an answer is final. ${CONFIRMATIONS} for rollups too: faster blocks are not safer ones.`,
    `# Feeds and statistics are fetched again after ${pro ? 60 : 15} s (data.cache.moving); final records are cached for 24 h.`,
    '# All other keys and their defaults are in tollgate.example.yaml.',
    '',
    'chains:',
    ...chains.flatMap(chain => entry(chain, pro)),
    '',
  ].join('\n');
}

const GATEWAY_NOTES = [
  "# All requests go through Blockscout's paid gateway with the key in BLOCKSCOUT_PRO_KEY, which has to be set.",
];

const INSTANCE_NOTES = [
  "# Blockscout has announced the end of its own instances' APIs for July 2026. So the gateway that replaces them comes",
  '# first, for the chains that it serves. It needs a key in BLOCKSCOUT_KEY; without one the instances are asked instead.',
  '# Instances of other operators need no key and never receive it. All limit requests per address.',
];

// A JSON string is a valid double-quoted YAML string, so every name stays text.
function entry(chain: KnownChain, pro: boolean): string[] {
  const { id, name, symbol, testnet, gateway } = chain;
  return [
    `  - id: ${id}`,
    `    name: ${JSON.stringify(name)}`,
    `    native: { symbol: ${JSON.stringify(symbol)}, decimals: 18 }`,
    `    confirmations: ${CONFIRMATIONS}`,
    `    testnet: ${testnet}`,
    '    backends:',
    ...(pro && !gateway ? ['      # The gateway was not documented to serve this chain in May 2026.'] : []),
    ...backendsOf(chain, pro).map(line => `      - { ${line} }`),
  ];
}

/** Back ends in the order of fallback. */
function backendsOf({ id, url, gateway }: KnownChain, pro: boolean): string[] {
  const gatewayUrl = `https://api.blockscout.com/${id}/api/v2`;
  if (pro) return [blockscout(gatewayUrl, `\${BLOCKSCOUT_PRO_KEY}`)];
  if (!isBlockscouts(url)) return [blockscout(url)];
  const key = `\${BLOCKSCOUT_KEY:-}`;
  return [...(gateway ? [blockscout(gatewayUrl, key)] : []), blockscout(url, key)];
}

function blockscout(url: string, apiKey?: string): string {
  const key = apiKey === undefined ? '' : `, apiKey: ${JSON.stringify(apiKey)}`;
  return `kind: blockscout, url: ${JSON.stringify(url)}${key}`;
}

/** True for an instance run by Blockscout. Other operators must not receive a Blockscout key. */
function isBlockscouts(url: string): boolean {
  return new URL(url).hostname.endsWith('.blockscout.com');
}
