package lab

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Entry returns the n-th entry of an aggregate.
func Entry(aggregate string, n int) outbox.Entry {
	return outbox.Entry{
		DestinationType: Kind, Destination: "somewhere", EventType: "test",
		AggregateID: aggregate, AggregateType: "Test", Payload: map[string]int{"n": n},
	}
}

// Publisher publishes with a business row for each entry.
type Publisher struct{ pub *outbox.Publisher[pgx.Tx] }

// NewPublisher returns a publisher on the tables of the default schema.
func NewPublisher() (Publisher, error) {
	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	return Publisher{pub}, err
}

// Write publishes entries in a transaction, and calls last, unless it is nil, before the commit.
func (p Publisher) Write(ctx context.Context, pool *pgxpool.Pool, last func(), entries ...outbox.Entry) ([]outbox.ID, error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after the commit
	for _, e := range entries {
		payload, ok := e.Payload.(map[string]int)
		if !ok {
			return nil, fmt.Errorf("payload is a %T", e.Payload)
		}
		if e.AggregateID == "" {
			continue // nothing would match the two
		}
		if _, err := tx.Exec(ctx, `INSERT INTO business VALUES ($1, $2)`, e.AggregateID, payload["n"]); err != nil {
			return nil, err
		}
	}
	ids, err := p.pub.PublishAll(ctx, tx, entries...)
	if err != nil {
		return nil, err
	}
	if last != nil {
		last()
	}
	return ids, tx.Commit(ctx)
}

// Publish publishes entries in one transaction.
func Publish(t testing.TB, pool *pgxpool.Pool, entries ...outbox.Entry) []outbox.ID {
	t.Helper()
	p, err := NewPublisher()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := p.Write(Context(t), pool, nil, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// Fill publishes the entries 1 to length of each of several aggregates, which take turns.
func Fill(t testing.TB, pool *pgxpool.Pool, aggregates, length int) {
	t.Helper()
	for n := 1; n <= length; n++ {
		entries := make([]outbox.Entry, aggregates)
		for a := range entries {
			entries[a] = Entry(fmt.Sprintf("aggregate-%d", a), n)
		}
		Publish(t, pool, entries...)
	}
}
