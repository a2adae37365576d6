-- Inserts entries, in the order of the arrays. The due time is the time of the statement and not of its transaction's start, so
-- that a relay which has read up to now has to look back only as far as the longest wait between insert and commit.
--   $1 text[] carrier ids      $2 text[] aggregate types   $3 text[] aggregate ids   $4 text[] event types
--   $5 text[] destinations     $6 text[] destination types $7 text[] JSON payloads   $8 text[] raw payloads, hexadecimal
--   $9 text[] content types    $10 text[] headers          $11 text[] metadata       $12 int[] max attempts
--   $13 text[] available_at    $14 text[] scheduled_at
-- Result: the ids, of which a smaller one belongs to an earlier element: the default is evaluated above the sort.
INSERT INTO {outbox} (carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, payload_raw,
                      content_type, headers, metadata, max_attempts, available_at, scheduled_at, created_at, updated_at)
SELECT e.carrier::uuid, e.aggregate_type, e.aggregate_id, e.event_type, e.destination, e.destination_type, e.payload::jsonb,
       decode(e.raw, 'hex'), e.content_type, e.headers::jsonb, e.metadata::jsonb, e.max_attempts,
       GREATEST(clock_timestamp(), e.available_at::timestamptz), e.scheduled_at::timestamptz, clock_timestamp(), clock_timestamp()
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
              $11::text[], $12::int[], $13::text[], $14::text[])
       WITH ORDINALITY AS e (carrier, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, raw,
                             content_type, headers, metadata, max_attempts, available_at, scheduled_at, ord)
 ORDER BY e.ord
RETURNING id
