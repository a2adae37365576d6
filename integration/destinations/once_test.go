package destinations

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// From an outbox through Kafka to an inbox: every record is in the topic twice, and has its effect once, though neither
// the publisher nor the consumer's work deals with ids. What the publisher's context held is there when the work runs.
func TestEffectOnceThroughKafka(t *testing.T) {
	t.Parallel()
	brokers := kafkas.shared(t).Brokers
	topic := newTopic(t, brokers, 4)
	db := lab.New(t)
	pool := db.Pool(t)
	db.Exec(t, `CREATE TABLE seen (trace text, correlation text, tenant text, header text, event text)`)
	set := propagation.NewSet(nil, append(propagation.Standard(), tenant)...)
	c := consumption{pool: pool, brokers: brokers, topic: topic, propagation: set, also: func(ctx context.Context, tx pgx.Tx, m kafka.Message) error {
		_, err := tx.Exec(ctx, `INSERT INTO seen VALUES ($1, $2, $3, $4, $5)`, propagation.From(ctx, propagation.TraceParent),
			propagation.From(ctx, propagation.Correlation), tenantOf(ctx), m.Headers["region"], m.EventType)
		return err
	}}
	c.run(t, db)

	const aggregates, each = 20, 10
	pub := newPublisher(t, outbox.Config{Propagation: set})
	trace := func(a int) string { return fmt.Sprintf("00-%032x-%016x-01", a+1, a+1) }
	for n := range each {
		for a := range aggregates {
			ctx := propagation.With(lab.Context(t), propagation.TraceParent, trace(a))
			ctx = propagation.With(ctx, propagation.Correlation, fmt.Sprint("c-", a))
			e := kafkaEntry(topic, fmt.Sprint("order-", a), n)
			e.Headers = map[string]string{"region": fmt.Sprint("r-", a)}
			publish(context.WithValue(ctx, tenantKey{}, fmt.Sprint("t-", a)), t, pool, pub, e)
		}
	}
	lab.Relay(t, lab.Store(t, pool), lab.Fast(), forgetfulBatch{kafkaHandler(t, brokers)})
	drained(t, pool)
	if repeats := checkTopic(t, pool, topic, readTopic(t, brokers, topic)); repeats != aggregates*each {
		t.Errorf("%d records are repeats, want every entry sent twice", repeats)
	}
	c.check(t, aggregates*each)
	for a := range aggregates {
		n := lab.Value[int](t, pool, `SELECT count(*) FROM seen WHERE trace = $1 AND correlation = $2 AND tenant = $3 AND header = $4
			AND event = 'order.confirmed'`, trace(a), fmt.Sprint("c-", a), fmt.Sprint("t-", a), fmt.Sprint("r-", a))
		if n != each {
			t.Errorf("context and headers of aggregate %d arrived with %d of %d messages", a, n, each)
		}
	}
}

type tenantKey struct{}

func tenantOf(ctx context.Context) string { s, _ := ctx.Value(tenantKey{}).(string); return s }

// tenant is context of the application's own.
var tenant = propagation.Text{
	Name: "tenant", Read: tenantOf,
	Write: func(ctx context.Context, text string) (context.Context, error) {
		return context.WithValue(ctx, tenantKey{}, text), nil
	},
}
