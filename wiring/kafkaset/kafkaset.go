// Package kafkaset provides the Kafka destination: from a kafka.Config, a *kafka.Handler that
// the injector's cleanup closes.
package kafkaset

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/wiring"
)

// closeTimeout is how long records that were handed over may wait for the cluster's answer.
const closeTimeout = 10 * time.Second

// Set needs a kafka.Config.
var Set = wire.NewSet(NewHandler)

// NewHandler returns a handler that is not connected yet. Its header prefix is the reserved
// one of the publishers.
func NewHandler(cfg kafka.Config, in wiring.Inputs, logger *slog.Logger) (*kafka.Handler, func(), error) {
	var err error
	if cfg.Names.ReservedPrefix, err = in.AdapterPrefix("kafka reserved prefix", cfg.Names.ReservedPrefix); err != nil {
		return nil, nil, err
	}
	h, err := kafka.NewHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	return h, func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			logger.Warn("satchel: closing the Kafka handler", "error", fault.Text(err))
		}
	}, nil
}
