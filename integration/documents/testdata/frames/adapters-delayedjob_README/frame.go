package invoices

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

type Invoice struct{ Order int }

// block 1

func publish(ctx context.Context, tx pgx.Tx, outboxPublisher *outbox.Publisher[pgx.Tx]) error {
	// block 2
	return err
}

func deliver() (*delayedjob.Handler, error) {
	// block 3
	return handler, err
}

func work(client redis.UniversalClient, codecs *propagation.Set, mail func(context.Context, Invoice) error) (err error) {
	// block 4
	return err
}
