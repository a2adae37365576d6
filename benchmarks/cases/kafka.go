package cases

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/kafkaserver"
)

var kafkaCase = Case{
	Name: "kafka",
	About: "Entries per second of relays that drain a backlog into a real Kafka, and its two limits on this machine: the same relays with a " +
		"handler that does nothing, and a sarama producer with the same settings and no outbox. The three take turns; the ratio is the " +
		"median of the ratios to the lower limit of the same round. PostgreSQL, Kafka and this process share the processors. " +
		"client_cpu_us is what this process computes for an entry.",
	Run: runKafka,
}

func runKafka(ctx context.Context, e *Env) error {
	server, err := kafkaserver.Find(ctx, kafkaserver.Options{Logf: e.Logf, Require: !e.Scale.StandIns})
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, servers.ErrUnavailable):
		e.Logf("%s: %v", report.NoKafka, err)
		e.Emit(report.Measurement{Case: "kafka", Series: report.NoKafka})
		return nil
	case err == nil:
		e.Logf("%s", server)
		err = measureKafka(ctx, e, server)
	}
	if server != nil {
		err = errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	return err
}

// contender is one of those that take turns.
type contender struct {
	name            string
	run             func(ctx context.Context) (rate, each float64, err error)
	rates, computed sample.Set
}

func measureKafka(ctx context.Context, e *Env, server *kafkaserver.Server) (err error) {
	d := drain{after: relay.Keep, relays: 2, batch: 500, rows: e.Scale.KafkaRows}
	b, err := e.open(ctx, lab.V3, 4*d.relays)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	topic, err := newTopic(server.Brokers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, topic.drop()) }()
	d.destination = topic.name
	bare, err := newProducer(server.Brokers, topic.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	through, err := kafka.NewHandler(kafka.Config{Connection: kafka.Connection{Brokers: server.Brokers}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSoon(ctx, through)) }()
	return e.takeTurns(ctx, d, server.Version,
		&contender{name: "no-op", run: b.drained(d, nothing{})},
		&contender{name: "bare producer", run: func(ctx context.Context) (float64, float64, error) { return bare.send(ctx, d.rows) }},
		&contender{name: "satchel", run: b.drained(d, through)})
}

// drained returns what drains by way of a handler.
func (b *bench) drained(d drain, h delivery.Handler) func(context.Context) (rate, each float64, err error) {
	d.handler = h
	return func(ctx context.Context) (rate, each float64, err error) { return b.drain(ctx, d) }
}

// takeTurns measures in rounds, so that all suffer alike from what disturbs. The last
// contender is compared with the slower of the others. The first rounds do not count: a
// broker that has just started compiles itself while it works.
func (e *Env) takeTurns(ctx context.Context, d drain, version string, first, second, last *contender) error {
	var ratios sample.Set
	const warm = 3
	for round := range warm + e.Scale.KafkaRounds {
		var rate [3]float64
		for i, c := range []*contender{first, second, last} {
			r, each, err := c.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			e.Logf("kafka %s: %.0f/s, client computes %.1f us each", c.name, r, each)
			if rate[i] = r; round < warm {
				continue
			}
			c.rates.Add(r)
			c.computed.Add(each)
		}
		if round >= warm {
			ratios.Add(rate[2] / min(rate[0], rate[1]))
		}
	}
	for _, c := range []*contender{first, second, last} {
		m := report.Measurement{
			Case: "kafka", Series: c.name,
			Params: map[string]string{"broker": version, "mode": string(d.after), "workers": strconv.Itoa(d.relays), "batch": strconv.Itoa(d.batch)},
			Values: map[string]float64{"rate": c.rates.Median(), "client_cpu_us": c.computed.Median()},
		}
		switch c {
		case first:
			delete(m.Params, "broker")
		case second:
			m.Params = map[string]string{"broker": version}
		case last:
			m.Values["ratio"] = ratios.Median()
		}
		e.Emit(m)
	}
	return nil
}

// nothing is a handler of Kafka's kind that does nothing, quickly.
type nothing struct{}

func (nothing) Type() destination.Type                           { return destination.Kafka }
func (nothing) Scope() claim.Scope                               { return claim.All() }
func (nothing) Deliver(context.Context, delivery.Envelope) error { return nil }

// DeliverBatch implements delivery.BatchHandler.
func (nothing) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	return make([]error, len(batch))
}

func closeSoon(ctx context.Context, h *kafka.Handler) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return h.Close(ctx)
}
