/** An example query. Its parameters are those of the page's URL. */
export interface Preset {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export const PRESETS: readonly Preset[] = [
  { name: 'Latest transactions', parameters: { kind: 'transactions', limit: '10' } },
  {
    name: 'Transactions per day',
    parameters: {
      kind: 'transactions',
      group_by: 'day',
      aggregate: 'count() as transactions',
      sort_by: 'day',
      sort_order: 'asc',
      limit: '31',
    },
  },
  {
    name: 'Gas per hour',
    parameters: {
      kind: 'blocks',
      group_by: 'hour',
      aggregate: 'sum(gas_used) as gas,avg(base_fee_per_gas) as base_fee',
      sort_by: 'hour',
      sort_order: 'desc',
      limit: '24',
    },
  },
  {
    name: 'Top senders',
    parameters: {
      kind: 'transactions',
      group_by: 'from_address',
      aggregate: 'count() as transactions,sum(value) as wei',
      sort_by: 'transactions',
      limit: '10',
    },
  },
  {
    name: 'Large coin transfers',
    parameters: {
      kind: 'transactions',
      filter_value_gte: '1000000000000000000',
      sort_by: 'value',
      limit: '10',
    },
  },
  {
    name: 'A wallet by its name, decoded',
    parameters: { kind: 'wallet-transactions', of: 'alice.eth', decode: 'true', limit: '10' },
  },
  {
    name: 'Events by type',
    parameters: {
      kind: 'events',
      group_by: 'topic_0',
      aggregate: 'count() as events,count(distinct address) as contracts',
      sort_by: 'events',
      limit: '10',
    },
  },
  { name: 'Latest events, decoded', parameters: { kind: 'events', decode: 'true', limit: '10' } },
];
