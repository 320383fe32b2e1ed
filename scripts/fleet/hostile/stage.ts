import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseOptions, openDatabase } from '../../../src/db/open.ts';
import type { OwnPostgres } from '../../../test/lab/own-postgres.ts';
import { random } from '../../faults/random.ts';
import type { FleetChain } from '../chain.ts';
import { configuration } from '../configuration.ts';
import { createMember, type Member } from '../member.ts';
import { type Observers, type Replica, replicaClient } from '../replica-client.ts';
import { type Receivers, startReceivers } from '../shops/receivers.ts';
import { createOrganizations, openShop, type Shop } from '../shops/shops.ts';

/** One process of the program with all roles, which serves one chain, and its shops. */
export interface Stage {
  readonly name: string;
  readonly chain: FleetChain;
  readonly member: Member;
  readonly data: Replica;
  readonly shops: readonly Shop[];
  readonly receivers: Receivers;
  readonly observers: Observers;
}

interface StageOptions {
  readonly name: string;
  readonly chain: FleetChain;
  /** An SQLite file in `folder` when absent. */
  readonly postgres: OwnPostgres | undefined;
  readonly folder: string;
  readonly shops: number;
  readonly observers: Observers;
  /** Called with each line of an error in the log. Such a line is a violation when this is absent. */
  readonly onError?: (line: string) => void;
}

/** Starts the process and opens the shops. */
export async function openStage(
  { name, chain, postgres, folder, shops: count, observers, onError = observers.violation }: StageOptions,
  stack: AsyncDisposableStack,
): Promise<Stage> {
  const { options, paymentsUrl, indexUrl } = await databaseOf({ name, postgres, folder });
  const configFile = join(folder, `${name}.yaml`);
  await writeFile(configFile, configuration({ paymentsUrl, indexUrl, chains: [chain.configured] }));
  const receivers = stack.use(await startReceivers(random(1)));
  const keys = await createOrganizations(options, count);
  const member = await createMember({ name, role: 'all', configFile, onError });
  stack.defer(() => member.kill());
  await member.start();
  const { isReady, dataUrl, paymentsUrl: url } = member;
  const payments = { name, url, isReady };
  const shops = await Promise.all(
    keys.map((key, index) => {
      const client = replicaClient({ replicas: [payments], key, observers });
      return openShop({ client, key, index, kinds: ['steady'] }, receivers.url);
    }),
  );
  return { name, chain, member, data: { name, url: dataUrl, isReady }, shops, receivers, observers };
}

async function databaseOf({ name, postgres, folder }: Pick<StageOptions, 'name' | 'postgres' | 'folder'>) {
  if (postgres === undefined) {
    const file = join(folder, `${name}-payments.db`);
    const options: DatabaseOptions = { kind: 'sqlite', file };
    return { options, paymentsUrl: `sqlite:${file}`, indexUrl: `sqlite:${join(folder, `${name}-index.db`)}` };
  }
  const db = openDatabase({ kind: 'postgres', url: postgres.url });
  try {
    await db.raw('create database ??', [name]);
  } finally {
    await db.destroy();
  }
  const url = postgres.url.replace('/postgres?', `/${name}?`);
  const options: DatabaseOptions = { kind: 'postgres', url };
  return { options, paymentsUrl: url, indexUrl: url };
}
