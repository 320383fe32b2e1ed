import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { insertRow } from '../../db/rows.ts';
import type { Organization, Tier } from '../model/owner.ts';

/** The organizations that are paid; no two have the same name. */
export function organizationStore(handle: Handle) {
  return {
    insert: (organization: Organization): Promise<void> =>
      insertRow(handle, 'organizations', {
        id: organization.id,
        name: organization.name,
        tier: organization.tier,
        default_chain_id: organization.defaults.chainId,
        default_token_address: organization.defaults.tokenAddress,
        default_recipient_address: organization.defaults.recipientAddress,
        created_at: organization.createdAt,
      }),

    async find(id: string): Promise<Organization | undefined> {
      const [row] = await rowsOf<OrganizationRow>(handle, 'select * from organizations where id = ?', [id]);
      return row && organizationOf(row);
    },

    async findByName(name: string): Promise<Organization | undefined> {
      const sql = 'select * from organizations where name = ?';
      const [row] = await rowsOf<OrganizationRow>(handle, sql, [name]);
      return row && organizationOf(row);
    },

    /** All of them by name. */
    async list(): Promise<Organization[]> {
      const rows = await rowsOf<OrganizationRow>(handle, 'select * from organizations order by name');
      return rows.map(organizationOf);
    },
  };
}

interface OrganizationRow {
  id: string;
  name: string;
  tier: Tier;
  default_chain_id: number | null;
  default_token_address: string | null;
  default_recipient_address: string | null;
  created_at: number;
}

function organizationOf(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    tier: row.tier,
    defaults: {
      chainId: row.default_chain_id,
      tokenAddress: row.default_token_address,
      recipientAddress: row.default_recipient_address,
    },
    createdAt: row.created_at,
  };
}
