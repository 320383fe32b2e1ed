import { expect } from 'vitest';
import type { DataServiceOptions } from '#data/service.ts';
import { blockscoutChain, startTestDataService } from '../../lab/data-service.ts';
import {
  type Behaviour,
  type ScriptedUpstream,
  type SeenRequest,
  startScriptedUpstream,
} from '../../lab/scripted-upstream.ts';

export const CHAIN_ID = 1;
export const TOKEN = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Metadata of an NFT as a Blockscout has it, with the address of the picture host. */
export type InstanceOf = (id: string, host: string) => Record<string, unknown> | undefined;

export interface PictureService extends AsyncDisposable {
  readonly url: string;
  readonly host: ScriptedUpstream;
  /** Ids of the NFTs requested from the Blockscout so far. */
  instances(): readonly string[];
  /** Address of a file on the host. */
  fileUrl(path: string): string;
  picture(id: number | bigint | string, init?: RequestInit): Promise<Response>;
}

/**
 * A data service over a Blockscout that knows `instanceOf`, and a loopback host of pictures that may be reached by
 * any name. `respond` is the host.
 */
export async function pictureService(
  instanceOf: InstanceOf,
  respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>,
  overrides: Partial<DataServiceOptions> = {},
): Promise<PictureService> {
  const stack = new AsyncDisposableStack();
  const host = stack.use(await startScriptedUpstream(respond));
  const { port } = new URL(host.url);
  const fileUrl = (path: string) => `http://files.test:${port}${path}`;
  const asked: string[] = [];
  const upstream = stack.use(
    await startScriptedUpstream(({ path }) => {
      const [, id = ''] = /^\/tokens\/0x[0-9a-f]{40}\/instances\/(\d+)$/i.exec(path) ?? [];
      asked.push(id);
      const instance = instanceOf(id, `http://files.test:${port}`);
      return instance === undefined
        ? { status: 404, json: { message: 'Not found' } }
        : { json: { id, is_unique: true, owner: null, token: null, ...instance } };
    }),
  );
  const service = stack.use(
    await startTestDataService([], {
      chains: [blockscoutChain(CHAIN_ID, upstream.url)],
      linkedHosts: {
        allowHttp: true,
        allowedNetworks: ['127.0.0.1'],
        lookup: async name => [{ address: name === 'private.test' ? '127.0.0.2' : '127.0.0.1', family: 4 }],
      },
      ipfsGateway: `http://127.0.0.1:${port}`,
      ...overrides,
    }),
  );
  return {
    url: service.url,
    host,
    instances: () => asked,
    fileUrl,
    picture: (id, init) =>
      fetch(`${service.url}/chain/${CHAIN_ID}/token/${TOKEN}/instance/${id}/picture`, init),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** One NFT whose picture is at this path of the host. */
export const pictureAt =
  (path: string): InstanceOf =>
  (_id, host) => ({ image_url: `${host}${path}` });

export const png = (type = 'image/png'): Behaviour => ({ bytes: PNG, type });

export const CID = 'QmRRPWG96cmgTn2qSzjwr2qvfNEuhunv6FNeMFGa9bx6mQ';

export const NOTHING = (): Behaviour => ({ status: 404, text: '' });

/** Status, message and the headers that confine a stranger's picture. */
export async function refusal(response: Response) {
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    csp: response.headers.get('content-security-policy'),
    cors: response.headers.get('access-control-allow-origin'),
    cache: response.headers.get('cache-control'),
    body: await response.json(),
  };
}

/** Same facts of an expected refusal. */
export const refused = (status: number, message: unknown = expect.any(String)) => ({
  status,
  type: 'application/json; charset=utf-8',
  csp: "sandbox; default-src 'none'",
  cors: null,
  cache: 'no-store',
  body: { message },
});
