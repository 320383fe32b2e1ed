import type { KnownChain, PaymentTerms } from './find-chain.ts';

const CONFIRMATIONS = 12;

/** A chain of the file. With `payments` it takes payments, through these nodes and in USDC. */
export type NamedChain = KnownChain & { readonly payments?: PaymentTerms | undefined };

/**
 * Configuration file in YAML that serves the chains from Blockscout, in this order.
 * `pro` uses the gateway only and requires BLOCKSCOUT_PRO_KEY. Otherwise the gateway comes before the instances that it
 * replaces, and the chains' own instances stay.
 */
export function configFile(chains: readonly NamedChain[], { pro }: { pro: boolean }): string {
  const takesPayments = chains.some(({ payments }) => payments !== undefined);
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
    ...(takesPayments ? PAYMENT_NOTES : []),
    '',
    ...(takesPayments ? PAYMENTS : []),
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

const PAYMENT_NOTES = [
  '#',
  '# Chains with `rpc` and `tokens` take payments: real money, except with `testnet: true`. The nodes are public ones, which limit',
  '# requests; put your own first. Check the contract of each token before you trust it with money.',
];

const PAYMENTS = [
  'payments:',
  '  #publicUrl: https://pay.example.com # address for payers; without it links lead to this machine',
  '  database: "sqlite:./var/payments.db" # back it up together with the key',
  '  secretKeyFile: ./var/secret.key',
  '  #mail: { smtp: "smtp://user:password@mail.example.com:587", from: "Payments <pay@example.com>" }',
  '',
];

// A JSON string is a valid double-quoted YAML string, so every name stays text.
function entry(chain: NamedChain, pro: boolean): string[] {
  const { id, name, symbol, testnet, gateway, payments } = chain;
  return [
    `  - id: ${id}`,
    `    name: ${JSON.stringify(name)}`,
    `    native: { symbol: ${JSON.stringify(symbol)}, decimals: 18 }`,
    `    confirmations: ${CONFIRMATIONS}`,
    `    testnet: ${testnet}`,
    ...(payments === undefined ? [] : paymentLines(payments)),
    '    backends:',
    ...(pro && !gateway ? ['      # The gateway was not documented to serve this chain in May 2026.'] : []),
    ...backendsOf(chain, pro).map(line => `      - { ${line} }`),
  ];
}

function paymentLines({ nodes, usdc }: PaymentTerms): string[] {
  return [
    `    rpc: [${nodes.map(url => JSON.stringify(url)).join(', ')}]`,
    '    tokens:',
    `      - { address: ${JSON.stringify(usdc)}, symbol: USDC, decimals: 6 }`,
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
