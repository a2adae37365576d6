// Package webhookset provides the webhook destination: from a webhook.Config, a
// *webhook.Handler that the injector's cleanup closes.
package webhookset

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/wiring"
)

// Set needs a webhook.Config.
var Set = wire.NewSet(NewHandler)

// NewHandler returns a handler. Its header prefix is the reserved one of the publishers.
func NewHandler(cfg webhook.Config, in wiring.Inputs) (*webhook.Handler, func(), error) {
	var err error
	if cfg.HeaderPrefix, err = in.AdapterPrefix("webhook header prefix", cfg.HeaderPrefix); err != nil {
		return nil, nil, err
	}
	h, err := webhook.NewHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	return h, h.Close, nil
}
