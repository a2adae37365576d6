package billing

import (
	"context"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

func deliver(ctx context.Context) error {
	// block 1
	return err
}

func publish(ctx context.Context, pub *outbox.Publisher[pgx.Tx], tx pgx.Tx, order any) {
	// block 2
}
