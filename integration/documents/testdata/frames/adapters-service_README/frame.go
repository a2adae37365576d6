package orders

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

type ChargeOrder struct {
	OrderID string
	Cents   int
}

var billing interface {
	Charge(context.Context, ChargeOrder) error
}

// block 1

func deliver(ctx context.Context, publisher *outbox.Publisher[pgx.Tx], tx pgx.Tx, store relay.Store) (*relay.Relay, error) {
	// block 2
	return node, err
}
