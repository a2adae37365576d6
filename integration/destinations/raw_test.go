package destinations

import (
	"bytes"
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// everyByte is what no text format survives: every value of a byte, twice, with the zero byte at both ends.
func everyByte() []byte {
	data := make([]byte, 0, 513)
	for i := range 512 {
		data = append(data, byte(i))
	}
	return append(data, 0)
}

const protobuf = "application/x-protobuf; messageType=orders.Confirmed"

// raws are the payloads of these tests, by aggregate.
func raws() map[string]outbox.Raw {
	return map[string]outbox.Raw{
		"every-byte": {ContentType: protobuf, Data: everyByte()},
		"empty":      {ContentType: protobuf},
		"large":      {ContentType: "application/octet-stream", Data: bytes.Repeat(everyByte(), 1500)},
		"signed":     {ContentType: "application/vnd.orders+json", Data: []byte(`{"b":1, "a":2,"a":3}`)}, // keys as the signature needs them
	}
}

// arrival is what a receiver found.
type arrival struct {
	contentType string
	data        []byte
}

func checkRaws(t *testing.T, got map[string]arrival) {
	t.Helper()
	for name, want := range raws() {
		a, ok := got[name]
		switch {
		case !ok:
			t.Errorf("%s did not arrive", name)
		case a.contentType != want.ContentType || !bytes.Equal(a.data, want.Data):
			t.Errorf("%s arrived as %d bytes of %s, want %d of %s", name, len(a.data), a.contentType, len(want.Data), want.ContentType)
		}
	}
}

// publishRaws publishes them for a destination.
func publishRaws(t *testing.T, db *lab.Database, kind destination.Type, name string) {
	t.Helper()
	entries := make([]outbox.Entry, 0, len(raws()))
	for aggregate, raw := range raws() {
		entries = append(entries, outbox.Entry{
			DestinationType: kind, Destination: name, EventType: "order.confirmed", AggregateID: aggregate, Payload: raw,
		})
	}
	publish(lab.Context(t), t, db.Pool(t), newPublisher(t, outbox.Config{}), entries...)
}

func TestRawPayloadThroughKafka(t *testing.T) {
	t.Parallel()
	brokers := kafkas.shared(t).Brokers
	topic := newTopic(t, brokers, 4)
	db := lab.New(t)
	pool := db.Pool(t)
	publishRaws(t, db, destination.Kafka, topic)
	lab.Relay(t, lab.Store(t, pool), lab.Fast(), kafkaHandler(t, brokers))
	drained(t, pool)
	got := map[string]arrival{}
	for _, m := range readTopic(t, brokers, topic) {
		if m.Value == nil {
			t.Errorf("%s arrived as a tombstone", m.Key)
		}
		got[string(m.Key)] = arrival{m.ContentType, m.Value}
	}
	checkRaws(t, got)
}

// The receiver verifies the signature over the bytes, and remembers what it processed.
func TestRawPayloadThroughHTTP(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	db.Exec(t, `CREATE TABLE received (message text, content_type text, body bytea)`)
	processor, err := pgxtx.NewProcessor(pgxtx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig[pgx.Tx]{
		Secrets: []webhook.Secret{secret}, Source: "orders", Processor: processor,
		InTx: func(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return do(ctx, tx) })
		},
		Work: func(ctx context.Context, tx pgx.Tx, m webhook.Message) error {
			_, err := tx.Exec(ctx, `INSERT INTO received VALUES ($1, $2, $3)`, m.ID, m.ContentType, m.Body)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, receiver)
	publishRaws(t, db, destination.HTTP, "billing")
	// Every request is made twice.
	lab.Relay(t, lab.Store(t, pool), lab.Fast(), forgetful{webhookHandler(t, s.endpoint("billing"))})
	drained(t, pool)
	rows, err := pool.Query(lab.Context(t), `SELECT aggregate_id, r.content_type, body FROM received r JOIN outbox ON carrier_id::text = message`)
	if err != nil {
		t.Fatal(err)
	}
	got, n := map[string]arrival{}, 0
	var name string
	var a arrival
	if _, err := pgx.ForEachRow(rows, []any{&name, &a.contentType, &a.data}, func() error {
		got[name] = arrival{a.contentType, bytes.Clone(a.data)}
		n++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	checkRaws(t, got)
	if n != len(raws()) {
		t.Errorf("%d effects of %d webhooks", n, len(raws()))
	}
}
