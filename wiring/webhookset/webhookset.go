// Package webhookset provides the webhook destination: from a webhook.Config, a
// *webhook.Handler that the injector's cleanup closes.
package webhookset

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/wiring"
)

// Set needs a webhook.Config.
var Set = wire.NewSet(NewHandler)

// closeTimeout is how long deliveries under way may take before they are interrupted.
const closeTimeout = 10 * time.Second

// NewHandler returns a handler. Its header prefix is the reserved one of the publishers.
func NewHandler(cfg webhook.Config, in wiring.Inputs, logger *slog.Logger) (*webhook.Handler, func(), error) {
	var err error
	if cfg.ReservedPrefix, err = in.AdapterPrefix("webhook reserved prefix", cfg.ReservedPrefix); err != nil {
		return nil, nil, err
	}
	h, err := webhook.NewHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	return h, func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			logger.Warn("satchel: closing the webhook handler", "error", fault.Text(err))
		}
	}, nil
}
