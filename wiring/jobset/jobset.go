// Package jobset provides the destination of delayed jobs: from a delayedjob.Config and
// delayedjob.Overrides, a *delayedjob.Handler and a publisher of jobs.
package jobset

import (
	"github.com/google/wire"
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/wiring"
)

// Set needs a delayedjob.Config, whose client stays the application's to close.
var Set = wire.NewSet(NewHandler)

// Publishing needs delayedjob.Overrides, which may be nil, and wiring.Publishing.
var Publishing = wire.NewSet(NewPublisher)

// NewHandler returns a handler that is not connected yet. Its header prefix is the reserved
// one of the publishers.
func NewHandler(cfg delayedjob.Config, in wiring.Inputs) (*delayedjob.Handler, error) {
	var err error
	if cfg.ReservedPrefix, err = in.AdapterPrefix("job reserved prefix", cfg.ReservedPrefix); err != nil {
		return nil, err
	}
	return delayedjob.NewHandler(cfg)
}

// NewPublisher returns a publisher of jobs for transactions of pgx. It is a function of its
// own because wire takes no instance of a generic one.
func NewPublisher(p *outbox.Publisher[pgx.Tx], overrides delayedjob.Overrides) (*delayedjob.Publisher[pgx.Tx], error) {
	return delayedjob.NewPublisher(p, overrides)
}
