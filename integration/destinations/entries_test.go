package destinations

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// payload is that of most entries here.
type payload struct {
	N int `json:"n"`
}

// kafkaEntry returns the n-th entry of an aggregate for a topic.
func kafkaEntry(topic, aggregate string, n int) outbox.Entry {
	return outbox.Entry{
		DestinationType: destination.Kafka, Destination: topic, EventType: "order.confirmed",
		AggregateID: aggregate, AggregateType: "Order", Payload: payload{n},
	}
}

// newPublisher returns a publisher on the tables of the default schema.
func newPublisher(t testing.TB, cfg outbox.Config) *outbox.Publisher[pgx.Tx] {
	t.Helper()
	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

// publish writes entries in one transaction.
func publish(ctx context.Context, t testing.TB, pool *pgxpool.Pool, pub *outbox.Publisher[pgx.Tx], entries ...outbox.Entry) {
	t.Helper()
	if err := write(ctx, pool, pub, entries...); err != nil {
		t.Fatal(err)
	}
}

func write(ctx context.Context, pool *pgxpool.Pool, pub *outbox.Publisher[pgx.Tx], entries ...outbox.Entry) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := pub.PublishAll(ctx, tx, entries...)
		return err
	})
}

// unsettled counts the entries that are neither published nor dead.
func unsettled(t testing.TB, pool *pgxpool.Pool) int {
	t.Helper()
	return lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_lettered_at IS NULL`)
}

// drained waits until every entry is settled.
func drained(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	lab.Eventually(t, "every entry is settled", func() bool { return unsettled(t, pool) == 0 })
}

// untouched checks that an outage cost no entry an attempt.
func untouched(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	if n := lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE attempt <> 0`); n != 0 {
		t.Errorf("%d entries were charged an attempt, the first with: %s", n,
			lab.Value[string](t, pool, `SELECT COALESCE(last_error, '') FROM outbox WHERE attempt <> 0 ORDER BY id LIMIT 1`))
	}
	if n := lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE state = 'DEAD_LETTER'`); n != 0 {
		t.Errorf("%d entries were dead-lettered", n)
	}
}

// checkTopic compares records with the entries for their topic: each arrived, under its message id and with its payload;
// those of an aggregate are in one partition, and in the order of their entries if repeats are left out. It returns the
// number of repeats.
func checkTopic(t testing.TB, pool *pgxpool.Pool, topic string, records []kafka.Message) (repeats int) {
	t.Helper()
	type entry struct {
		Message, Aggregate string
		N                  int
	}
	rows, err := pool.Query(lab.Context(t), `SELECT carrier_id::text, aggregate_id, (payload->>'n')::int
		FROM outbox WHERE destination = $1 ORDER BY id`, topic)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByPos[entry])
	if err != nil {
		t.Fatal(err)
	}
	known, waiting := map[string]entry{}, map[string][]entry{} // by message id; by aggregate, in order
	for _, e := range entries {
		known[e.Message], waiting[e.Aggregate] = e, append(waiting[e.Aggregate], e)
	}
	arrived, partition := map[string]bool{}, map[string]int32{}
	for _, m := range records {
		e, ok := known[m.ID]
		if !ok {
			t.Errorf("record %d/%d has a message id that no entry has", m.Partition, m.Offset)
			continue
		}
		if string(m.Key) != e.Aggregate || string(m.Value) != fmt.Sprintf(`{"n": %d}`, e.N) {
			t.Errorf("record %d/%d has key %q and value %q, want those of %v", m.Partition, m.Offset, m.Key, m.Value, e)
		}
		if p, seen := partition[e.Aggregate]; seen && p != m.Partition {
			t.Errorf("aggregate %s is in the partitions %d and %d", e.Aggregate, p, m.Partition)
		}
		partition[e.Aggregate] = m.Partition
		if arrived[m.ID] {
			repeats++
			continue
		}
		arrived[m.ID] = true
		if next := waiting[e.Aggregate][0]; next != e {
			t.Errorf("aggregate %s: entry %d came first when it was the turn of %d", e.Aggregate, e.N, next.N)
			return repeats // everything behind it would be out of order too
		}
		waiting[e.Aggregate] = waiting[e.Aggregate][1:]
	}
	if len(arrived) != len(entries) {
		t.Errorf("%d of %d entries arrived", len(arrived), len(entries))
	}
	return repeats
}
