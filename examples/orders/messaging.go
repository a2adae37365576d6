package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// consumerConnections is how many messages the consumer applies at once.
const consumerConnections = 8

// newPool returns a pool of at most n connections.
func newPool(ctx context.Context, dsn string, n int32) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = n
	return pgxpool.NewWithConfig(ctx, cfg)
}

// newStore returns the store that a relay and its maintenance work on.
func newStore(pool *pgxpool.Pool) (*postgres.Store, error) {
	return postgres.NewStore(pool, postgres.Config{})
}

func newPublisher() (*outbox.Publisher[pgx.Tx], error) {
	return pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
}

func newRecorder() (*pgxtx.Recorder, error) { return pgxtx.NewRecorder(pgxtx.Config{}) }
