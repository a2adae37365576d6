package shop

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgrestest"
)

type shop struct {
	pool      *pgxpool.Pool
	publisher *outbox.Publisher[pgx.Tx]
}

func newShop(pool *pgxpool.Pool) *shop {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		panic(err)
	}
	return &shop{pool, publisher}
}

func (s *shop) Confirm(ctx context.Context, order string) {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := s.publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", AggregateID: order,
			Payload: map[string]int{"total": 4200},
		})
		return err
	})
	if err != nil {
		panic(err)
	}
}

// block 1
