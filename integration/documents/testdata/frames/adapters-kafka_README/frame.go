package orders

import (
	"context"
	"crypto/tls"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
)

func deliver(ctx context.Context, store relay.Store, password string) error {
	// block 1
	_, _ = r, err
	return nil
}
