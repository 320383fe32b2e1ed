/** Smallest amount that rounds to infinity: the middle between the greatest double and the next power of two. */
const BEYOND_DOUBLE = 2n ** 1024n - 2n ** 970n;

/** First and last second of the years 0 to 9999, the range of SQLite's calendar functions. */
const CALENDAR = 'between -62167219200 and 253402300799';

/** Functions for triggers, and for the queries of document 2. Results equal those of SQLite and JavaScript. */
export const POSTGRES_FUNCTIONS = [
  // Unsigned integer of up to 32 bytes, in parts of 60 bits.
  `create function uint_of(bytes bytea) returns numeric language sql immutable strict parallel safe as $$
    select ('x' || substr(h, 1, 15))::bit(60)::bigint::numeric * 1766847064778384329583297500742918515827483896875618958121606201292619776
      + ('x' || substr(h, 16, 15))::bit(60)::bigint::numeric * 1532495540865888858358347027150309183618739122183602176
      + ('x' || substr(h, 31, 15))::bit(60)::bigint::numeric * 1329227995784915872903807060280344576
      + ('x' || substr(h, 46, 15))::bit(60)::bigint::numeric * 1152921504606846976
      + ('x' || substr(h, 61, 15))::bit(60)::bigint::numeric
    from (select lpad(encode(bytes, 'hex'), 75, '0') as h) digits
  $$`,
  // Decodes a `bloomColumn`.
  `create function bloom_of(stored bytea) returns bytea language plpgsql immutable strict parallel safe as $$
    declare
      bloom bytea := decode(repeat('00', 256), 'hex');
    begin
      if length(stored) >= 256 then
        return stored;
      end if;
      for at in 0..length(stored) / 2 - 1 loop
        bloom := set_bit(bloom, 256 * get_byte(stored, 2 * at) + get_byte(stored, 2 * at + 1), 1);
      end loop;
      return bloom;
    end
  $$`,
  `create function start_of_month(seconds bigint) returns bigint language sql immutable parallel safe as $$
    select case when seconds ${CALENDAR}
      then cast(extract(epoch from date_trunc('month', to_timestamp(seconds) at time zone 'UTC')) as bigint) end
  $$`,
  // PostgreSQL fails where a double would overflow to infinity or underflow to zero.
  `create function wide_real(value numeric) returns double precision language sql immutable parallel safe as $$
    select case when value = 'NaN' then null
      when value >= ${BEYOND_DOUBLE} then cast('Infinity' as double precision)
      when value <= -${BEYOND_DOUBLE} then cast('-Infinity' as double precision)
      else cast(value as double precision) end
  $$`,
  `create function decimal_of(value double precision) returns numeric language sql immutable parallel safe as $$
    select case when abs(value) = 'Infinity' then 'NaN' else cast(cast(value as text) as numeric) end
  $$`,
  // Not parallel safe, because catching an exception needs a subtransaction.
  `create function wide_arithmetic(operator text, a double precision, b double precision)
    returns double precision language plpgsql immutable strict as $$
    begin
      if operator = '/' and b = 0 then
        return null;
      end if;
      begin
        return nullif(
          case operator when '+' then a + b when '-' then a - b when '*' then a * b else a / b end,
          'NaN'
        );
      exception when numeric_value_out_of_range then
        if operator in ('+', '-') then
          return sign(a) * 'Infinity'::double precision;
        end if;
        if ln(abs(a)) + (case operator when '*' then 1 else -1 end) * ln(abs(b)) < 0 then
          return 0;
        end if;
        return sign(a) * sign(b) * 'Infinity'::double precision;
      end;
    end
  $$`,
] as const;

/** Trigger that runs once per statement, over the rows that it `added`, `removed` or both. */
export function trigger(name: string, on: string, body: string): string[] {
  const tables = [
    on.startsWith('delete') ? '' : ' new table as added',
    on.startsWith('insert') ? '' : ' old table as removed',
  ];
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin
      ${body}
      return null;
    end $$`,
    `create trigger ${name} after ${on} referencing${tables.join('')}
      for each statement execute function ${name}()`,
  ];
}
