package destinations

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
)

const roleRelay = "relay"

// orders say what a child relay is to do.
type orders struct {
	Database lab.Database
	Brokers  []string
	// After is the number of batches after whose acknowledgement the relay stops for ever. Batches of fewer than Least
	// entries do not count, at first: what killed several relays is delivered alone, and there is much of that here.
	After, Least int
}

// killable is the configuration of relays that are killed: another takes over soon.
func killable() relay.Config {
	cfg := lab.Fast()
	cfg.LeaseTimeout, cfg.BatchSize = 500*time.Millisecond, 30
	return cfg
}

// relayRole runs a relay to Kafka that waits to be killed.
func relayRole(ctx context.Context, text []byte, say func(string)) error {
	var o orders
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	pool, err := o.Database.Open(lab.Size(4))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	h, err := kafka.NewHandler(kafka.Config{Connection: kafka.Connection{Brokers: o.Brokers}})
	if err != nil {
		return err
	}
	g := &gate{Handler: h, say: say, least: o.Least, patient: time.Now().Add(time.Second / 2)}
	g.left.Store(int64(o.After))
	r, err := relay.New(store, []delivery.Handler{g}, killable())
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// gate stops for ever after a batch that the broker has acknowledged, before the relay can learn of it.
type gate struct {
	*kafka.Handler
	left    atomic.Int64
	least   int
	patient time.Time // until then only batches of at least that size count
	say     func(string)
}

// DeliverBatch implements delivery.BatchHandler.
func (g *gate) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := g.Handler.DeliverBatch(ctx, batch)
	acked := 0
	for _, err := range results {
		if err == nil {
			acked++
		}
	}
	counts := acked >= g.least || acked > 0 && time.Now().After(g.patient)
	if counts && g.left.Add(-1) == 0 {
		g.say("acked " + strconv.Itoa(acked))
		select {}
	}
	return results
}

// Relays are killed again and again when the broker has a batch and the database does not know it yet. Two run at any
// time, so that one takes over while the other dies.
func TestKilledBetweenAcknowledgementAndSettlement(t *testing.T) {
	t.Parallel()
	brokers := kafkas.shared(t).Brokers
	topic := newTopic(t, brokers, 6)
	db := lab.New(t)
	pool := db.Pool(t)
	effects := consumption{pool: pool, brokers: brokers, topic: topic}
	effects.run(t, db)
	lab.Recover(t, lab.Store(t, pool), maintenance.Config{MaxClaims: maintenance.MaxMaxClaims})

	// One relay holds at most sixty entries when it stops, so the other always has enough aggregates left.
	const aggregates, each = 240, 1
	pub, published := newPublisher(t, outbox.Config{}), 0
	fill := func() {
		entries := make([]outbox.Entry, 0, aggregates*each)
		for n := published / aggregates; len(entries) < cap(entries); n++ {
			for a := range aggregates {
				entries = append(entries, kafkaEntry(topic, fmt.Sprint("order-", a), n))
			}
		}
		published += len(entries)
		publish(lab.Context(t), t, pool, pub, entries...)
	}
	start := func() *lab.Child {
		return lab.Start(t, roleRelay, orders{Database: *db, Brokers: brokers, After: 1 + rand.N(3), Least: 1 + rand.N(20)})
	}

	kills, acked := lab.Sized(20, 200), 0
	fill()
	next := start()
	for range kills {
		doomed := next
		next = start()
		fill()
		n, err := strconv.Atoi(doomed.Said("acked"))
		if err != nil {
			t.Fatal(err)
		}
		acked += n
		time.Sleep(rand.N(20 * time.Millisecond)) // what else it does meanwhile, differs
		doomed.Kill()
	}
	next.Kill()
	lab.Relay(t, lab.Store(t, pool), killable(), kafkaHandler(t, brokers))
	drained(t, pool)
	if got, want := lab.States(t, pool), fmt.Sprint("PUBLISHED=", published); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	repeats := checkTopic(t, pool, topic, readTopic(t, brokers, topic))
	if repeats < acked {
		t.Errorf("%d records are repeats; %d were acknowledged and not settled before a kill", repeats, acked)
	}
	effects.check(t, published)
	t.Logf("%d kills, %d entries, %d of them acknowledged and not settled, %d records repeated", kills, published, acked, repeats)
}
