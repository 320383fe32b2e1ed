import { describe, expect, test } from 'vitest';
import type { ConfigFault } from '../../src/config/config-error.ts';
import type { Variables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { refusal } from './refusal.ts';
import { writeConfig } from './write-config.ts';

function findingsOf(text: string, env: Variables = {}): readonly ConfigFault[] {
  return refusal(() => loadConfig({ file: writeConfig(text), env })).findings;
}

const chain = (id: number, rest = 'rpc: ["http://127.0.0.1:1"]') =>
  `{ id: ${id}, name: A, native: { symbol: A }, ${rest} }`;

describe('a finding names the path, the line and the rule', () => {
  test.each<[string, string, number, string, RegExp]>([
    [
      'an unknown key',
      'data:\n  cache:\n    tll: 24h\n',
      3,
      'data.cache.tll',
      /not a known key; did you mean ttl\?/,
    ],
    ['an unknown key at the root', 'log: {}\nchain: []\n', 2, 'chain', /did you mean chains\?/],
    [
      'an unknown key without a suggestion',
      'log:\n  colour: red\n',
      2,
      'log.colour',
      /known here: level, format, requests/,
    ],
    [
      'pay pages below a path',
      'payments:\n  publicUrl: https://example.com/shop\n',
      2,
      'payments.publicUrl',
      /must have no path/,
    ],
    ['an empty host', 'payments:\n  publicUrl: https://.\n', 2, 'payments.publicUrl', /host and port/],
    [
      'an empty label',
      'payments:\n  publicUrl: https://pay..example.com\n',
      2,
      'payments.publicUrl',
      /host and port/,
    ],
    [
      'a port out of range',
      'payments:\n  publicUrl: https://pay.example.com:0\n',
      2,
      'payments.publicUrl',
      /host and port/,
    ],
    [
      'a label of 64 letters',
      `data:\n  publicUrl: https://${'a'.repeat(64)}.example\n`,
      2,
      'data.publicUrl',
      /host and port/,
    ],
    [
      'an SMTP port out of range',
      'payments:\n  mail:\n    from: a@b.example\n    smtp: smtp://mail.example:0\n',
      4,
      'payments.mail.smtp',
      /host and port/,
    ],
    [
      'a node with an empty label',
      'chains:\n  - id: 1\n    name: A\n    native: { symbol: A }\n    rpc: [wss://node..example]\n',
      5,
      'chains[0].rpc[0]',
      /host and port/,
    ],
    ['a missing key', 'chains:\n  - id: 1\n    native: { symbol: A }\n', 2, 'chains[0].name', /is required/],
    [
      'an invalid duration',
      '\ndata:\n  cache:\n    ttl: 24 hours\n',
      4,
      'data.cache.ttl',
      /such as 400ms, 30s or 24h/,
    ],
    [
      'a number for a duration',
      'data:\n  cache:\n    ttl: 24\n',
      3,
      'data.cache.ttl',
      /must be a whole number and a unit/,
    ],
    [
      'a timeout of zero',
      'data: { fallback: { timeout: 0s } }',
      1,
      'data.fallback.timeout',
      /longer than zero/,
    ],
    ['a timer that is too long', 'server: { drain: 2147483s }', 1, 'server.drain', /at most 24d/],
    [
      'too little memory for the long queries',
      'data: { queries: { concurrency: 4, memory: 1000MB } }',
      1,
      'data.queries.memory',
      /at least 1024MB for 4 long queries/,
    ],
    [
      'an invalid size',
      'data: { cache: { memory: 256mb } }',
      1,
      'data.cache.memory',
      /must be a whole number and a unit/,
    ],
    ['an address without a port', 'data: { listen: localhost }', 1, 'data.listen', /an address to listen on/],
    ['an invalid port', 'data: { listen: "0.0.0.0:70000" }', 1, 'data.listen', /up to 65535/],
    [
      'two listeners on one port',
      'data:\n  listen: 127.0.0.1:3001\n',
      1,
      'payments.listen',
      /used by another/,
    ],
    ['a limit that is not a number', 'data: { rateLimit: many }', 1, 'data.rateLimit', /must be an integer/],
    ['an unknown level', 'log:\n  level: loud\n', 2, 'log.level', /must be one of trace, debug, info/],
    ['a section that is a list', 'data:\n  - listen\n', 1, 'data', /must be an object/],
    [
      'an invalid network',
      'trustedProxies:\n  - 10.0.0.0/8\n  - 10.0.0.0/40\n',
      3,
      'trustedProxies[1]',
      /must be a network/,
    ],
    ['an invalid address', 'trustedProxies: ["1.2.3"]', 1, 'trustedProxies[0]', /must be a network/],
    [
      'an invalid private network',
      'payments: { webhooks: { allowedNetworks: ["::/200"] } }',
      1,
      'payments.webhooks.allowedNetworks[0]',
      /must be a network/,
    ],
    ['an invalid URL', 'ipfsGateway: "https://exa mple"', 1, 'ipfsGateway', /must be an http/],
    ['a URL with an invalid port', 'ipfsGateway: "https://x:99999"', 1, 'ipfsGateway', /not a valid URL/],
    [
      'a database of an unknown kind',
      'payments: { database: "mysql://x" }',
      1,
      'payments.database',
      /sqlite:/,
    ],
    [
      'a pool of one connection',
      'payments: { postgres: { pool: 1 } }',
      1,
      'payments.postgres.pool',
      /must be an integer from 2 to 1000/,
    ],
    ...(
      [
        ['payments.database', 'payments: { database: "URL" }'],
        ['payments.postgres.listenUrl', 'payments: { postgres: { listenUrl: "URL" } }'],
        ['data.postgres.listenUrl', 'data: { postgres: { listenUrl: "URL" } }'],
        [
          'chains[0].backends[0].database',
          `chains: [${chain(1, 'rpc: ["http://n"], backends: [{ kind: index, database: "URL" }]')}]`,
        ],
      ] as const
    ).flatMap(([path, text]) =>
      [
        'postgres://me:pass@db:99999/shop',
        'postgres://me:pa/ss@db/shop',
        'postgresql://me:pa#ss@db/shop',
      ].map((url): [string, string, number, string, RegExp] => [
        `${url} as ${path}`,
        text.replace('URL', url),
        1,
        path,
        /^is not a valid URL; in a password, characters such as \/ and # are written %2F and %23$/,
      ]),
    ),
    ...['postgres://db-1:5432,db-2:99999/shop', 'postgres://me:pa/ss@db-1,db-2/shop'].map(
      (url): [string, string, number, string, RegExp] => [
        `${url} with several hosts`,
        `payments: { database: "${url}" }`,
        1,
        'payments.database',
        /^is not a valid URL/,
      ],
    ),
    [
      'several hosts of which any standby will do',
      'payments: { database: "postgres://db-1,db-2/shop?target_session_attrs=standby" }',
      1,
      'payments.database',
      /^must have no target_session_attrs=standby, because the database is written$/,
    ],
    [
      'an unreadable certificate',
      'payments:\n  postgres:\n    tls: { ca: ./missing.pem }\n',
      3,
      'payments.postgres.tls.ca',
      /must be a readable file/,
    ],
    [
      'a certificate without its key',
      `payments: { postgres: { tls: { cert: ${import.meta.filename} } } }`,
      1,
      'payments.postgres.tls',
      /needs both cert and key/,
    ],
    [
      'PostgreSQL as the store of the cache',
      'data: { cache: { store: "postgres://u:p@db/cache" } }',
      1,
      'data.cache.store',
      /must be a file such as sqlite:.*or a Redis/,
    ],
    [
      'a file as the store of rate limits',
      'rateLimitStore: sqlite:./limits.db',
      1,
      'rateLimitStore',
      /must be a Redis.*or postgres:/,
    ],
    ...['redis://:p/w@cache', 'redis://cache:6379/name', 'rediss://'].map(
      (store): [string, string, number, string, RegExp] => [
        `an invalid URL of a Redis, ${store}`,
        `rateLimitStore: postgres://db/limits\ndata: { cache: { store: "${store}" } }`,
        2,
        'data.cache.store',
        /(is not a valid address of a Redis|must be a file)/,
      ],
    ),
    [
      'a messenger mode other than polling',
      'payments: { messenger: { token: t, mode: webhook } }',
      1,
      'payments.messenger.mode',
      /must be one of polling/,
    ],
    [
      'both forms of the key',
      `payments:\n  secretKeyFile: a\n  secretKey: ${'k'.repeat(32)}\n`,
      3,
      'payments.secretKey',
      /combined with secretKeyFile/,
    ],
    [
      'a required proof on a chain without proofs',
      `payments: { requireProof: true }\nchains:\n  - ${chain(1, 'rpc: ["http://127.0.0.1:1"], prove: "off"')}\n`,
      3,
      'chains[0].prove',
      /cannot be off with payments.requireProof/,
    ],
    [
      'deposit addresses of real money that are not accepted',
      `chains:\n  - ${chain(1, `rpc: ["http://127.0.0.1:1"], depositAddresses: { maxUnswept: { A: "1" } }`)}\n`,
      2,
      'chains[0].depositAddresses',
      /needs acceptUnaudited: true, because no outsider has audited/,
    ],
    [
      'deposit addresses of real money without a limit',
      `chains:\n  - ${chain(1, `rpc: ["http://127.0.0.1:1"], depositAddresses: { acceptUnaudited: true }`)}\n`,
      2,
      'chains[0].depositAddresses',
      /needs maxUnswept, an amount for each token/,
    ],
    [
      'a limit of a token that the chain does not have',
      `chains:\n  - ${chain(1, `rpc: ["http://127.0.0.1:1"], depositAddresses: { acceptUnaudited: true, maxUnswept: { USDC: "1" } }`)}\n`,
      2,
      'chains[0].depositAddresses.maxUnswept.USDC',
      /is not a known key; known here: A/,
    ],
    [
      'a limit with too many decimal places',
      `chains:\n  - ${chain(1, `rpc: ["http://127.0.0.1:1"], testnet: true, depositAddresses: { maxUnswept: { A: "1.${'1'.repeat(19)}" } }`)}\n`,
      2,
      'chains[0].depositAddresses.maxUnswept.A',
      /at most 18 decimal places/,
    ],
    [
      'a limit that is a number',
      `chains:\n  - ${chain(1, `rpc: ["http://127.0.0.1:1"], testnet: true, depositAddresses: { maxUnswept: { A: 5 } }`)}\n`,
      2,
      'chains[0].depositAddresses.maxUnswept.A',
      /must be a decimal number above 0 in quotes/,
    ],
    [
      'deposit addresses on a chain without nodes',
      `chains:\n  - ${chain(1, 'testnet: true, depositAddresses: true, backends: [{ kind: blockscout, url: "http://127.0.0.1:1" }]')}\n`,
      2,
      'chains[0].depositAddresses',
      /needs the chain's rpc/,
    ],
    [
      'a key that is too short',
      'payments: { secretKey: short }',
      1,
      'payments.secretKey',
      /at least 32 characters/,
    ],
    [
      'a repeated chain id',
      `chains:\n  - ${chain(1)}\n  - ${chain(1)}\n`,
      3,
      'chains[1].id',
      /id of another chain/,
    ],
    [
      'the id of an embedded chain',
      `devnet: {}\nchains:\n  - ${chain(31338)}\n`,
      3,
      'chains[0].id',
      /embedded chain/,
    ],
    [
      'a chain without a source',
      `chains:\n  - ${chain(1, 'testnet: true')}\n`,
      2,
      'chains[0]',
      /needs rpc or backends/,
    ],
    [
      'an index without a node',
      `chains:\n  - ${chain(1, 'backends: [{ kind: index }]')}\n`,
      2,
      'chains[0].backends[0]',
      /needs the chain's rpc/,
    ],
    [
      'a back end of an unknown kind',
      `chains:\n  - ${chain(1, 'backends: [{ kind: etherscan }]')}\n`,
      2,
      'chains[0].backends[0]',
      /of kind blockscout, insight or index/,
    ],
    [
      'a back end that is text',
      `chains:\n  - ${chain(1, 'backends: [blockscout]')}\n`,
      2,
      'chains[0].backends[0]',
      /of kind blockscout/,
    ],
    [
      'a key of another kind of back end',
      `chains:\n  - ${chain(1, 'backends: [{ kind: insight, url: "http://x", apiKey: k }]')}\n`,
      2,
      'chains[0].backends[0].apiKey',
      /known here: kind, url, clientId/,
    ],
    [
      'an invalid token address',
      `chains:\n  - ${chain(1, 'tokens: [{ address: "0x12", symbol: T, decimals: 6 }]')}\n`,
      2,
      'chains[0].tokens[0].address',
      /40 hexadecimal digits/,
    ],
    [
      'a token that is the system address, in any letter case',
      `chains:\n  - ${chain(1, `tokens: [{ address: "0xFf${'f'.repeat(37)}E", symbol: T, decimals: 6 }]`)}\n`,
      2,
      'chains[0].tokens[0].address',
      /not the system address/,
    ],
    [
      'a database used twice',
      'data:\n  cache:\n    store: sqlite:var/payments.db\n',
      3,
      'data.cache.store',
      /another database/,
    ],
    [
      'a file of the cache without room for its log',
      'data:\n  cache:\n    storeSize: 63MB\n',
      3,
      'data.cache.storeSize',
      /at least 64MB/,
    ],
    [
      'two indexes of a chain in one PostgreSQL database',
      `chains:\n  - ${chain(1, 'rpc: ["http://n"], backends: [{ kind: index, database: "postgres://db/a" }, { kind: index, database: "postgres://db/a" }]')}\n`,
      2,
      'chains[0].backends[1].database',
      /holds an index of this chain already/,
    ],
    [
      'a missing certificate for indexes',
      'data:\n  postgres:\n    tls: { ca: ./missing.pem }\n',
      3,
      'data.postgres.tls.ca',
      /must be a readable file/,
    ],
    [
      'an invalid lifetime',
      'data:\n  cache:\n    overrides:\n      getBlock: soon\n',
      4,
      'data.cache.overrides.getBlock',
      /such as 400ms/,
    ],
    [
      'a missing variable',
      `payments:\n  secretKey: "\${NOT_THERE}"\n`,
      2,
      'payments.secretKey',
      /environment variable NOT_THERE/,
    ],
    [
      'a malformed variable',
      `payments:\n  secretKey: "\${no good}"\n`,
      2,
      'payments.secretKey',
      /malformed variable/,
    ],
    [
      'an unterminated variable',
      `payments:\n  secretKey: "\${NAME"\n`,
      2,
      'payments.secretKey',
      /malformed variable/,
    ],
    [
      'a variable named like an inherited property',
      `payments:\n  secretKey: "\${constructor}"\n`,
      2,
      'payments.secretKey',
      /variable constructor/,
    ],
    ['a repeated key', 'log: {}\nlog: {}\n', 2, '', /unique/],
    ['an unclosed bracket', 'log: { level: info\n', 2, '', /flow map/i],
    ['a file that is a list', '- a\n', 1, '', /must be an object/],
  ])('%s', (_, text, line, path, message) => {
    const findings = findingsOf(text);

    expect(findings).toEqual([{ path, line, message: expect.stringMatching(message) }]);
  });

  test('a finding in a JSON file has its line, too', () => {
    const file = writeConfig('{\n\t"data": {\n\t\t"rateLimits": 9\n\t}\n}\n', 'tollgate.json');

    const { findings } = refusal(() => loadConfig({ file, env: {} }));

    expect(findings).toEqual([
      { path: 'data.rateLimits', line: 3, message: 'is not a known key; did you mean rateLimit?' },
    ]);
  });
});

test.each([
  'postgres://me:p%23ss@db.example:6432/shop?sslmode=verify-full',
  'postgres://me@/shop?host=/var/run/postgresql',
  'postgres:///shop',
])('%s is a valid database URL', url => {
  const config = loadConfig({ file: writeConfig(`payments: { database: "${url}" }`), env: {} });

  expect(config.payments.database).toMatchObject({ kind: 'postgres', url });
});

test('all faults are reported at once, in the order of the file', () => {
  const error = refusal(() =>
    loadConfig({
      file: writeConfig(`log:\n  level: loud\ndata:\n  rateLimit: 0\n  listen: "\${LISTEN}"\n`),
      env: {},
    }),
  );

  expect(error.findings.map(({ path, line }) => [path, line])).toEqual([
    ['log.level', 2],
    ['data.rateLimit', 4],
    ['data.listen', 5],
  ]);
  expect(error.message).toContain(`${error.source} is not valid:\n  line 2: log.level must be one of`);
});

test('no message repeats a value, because it may be a secret', () => {
  const secret = 'hunter2';

  const written = refusal(() =>
    loadConfig({ file: writeConfig(`payments: { secretKey: ${secret}, database: ${secret} }`), env: {} }),
  );
  const brought = refusal(() =>
    loadConfig({ file: writeConfig(`payments: { secretKey: "\${KEY}" }`), env: { KEY: secret } }),
  );
  const broken = refusal(() =>
    loadConfig({ file: writeConfig(`payments: { secretKey: ${secret} `), env: {} }),
  );

  expect([written, brought, broken].filter(error => error.message.includes(secret))).toEqual([]);
});

test('a missing file is reported as unreadable, with its name', () => {
  const error = refusal(() => loadConfig({ file: '/nowhere/tollgate.yaml', env: {} }));

  expect(error.message).toMatch(/\/nowhere\/tollgate\.yaml is not valid:\n.*cannot be read \(ENOENT\)/);
});

test('excessive alias expansion is refused', () => {
  const lines = ['a: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let depth = 1; depth < 9; depth++) {
    lines.push(`b${depth}: &a${depth} [${Array.from({ length: 9 }, () => `*a${depth - 1}`).join(', ')}]`);
  }

  expect(findingsOf(lines.join('\n'))).toEqual([
    { path: '', line: 1, message: expect.stringMatching(/alias/i) },
  ]);
});
