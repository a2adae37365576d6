package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/delivery"
)

// transport is a way for events to get from the shop's transactions to the consumer.
// Every process uses its own part of it; they share nothing but what it is made from.
type transport interface {
	// names returns the three destinations; each relay node serves some of them.
	names() []string
	// route returns the destination of an event.
	route(e OrderEvent) string
	// publish writes events of one order into the shop's transaction.
	publish(ctx context.Context, tx pgx.Tx, events ...OrderEvent) error
	// handler returns what a node delivers with, and what to call when it has ended.
	handler(n *node) (delivery.Handler, func(), error)
	// consume lets c apply what arrives, until ctx ends. It calls ready once nothing
	// that is sent from now on can be missed, with the address for the nodes.
	consume(ctx context.Context, c *consumer, ready func(address string)) error
	// prepare makes what has to exist beside the database before any process starts.
	prepare(ctx context.Context) (stage, error)
}

// stage is what prepare has made.
type stage interface {
	// environment returns variables that the processes of the play need.
	environment() []string
	// inTransit counts messages that were delivered, and that the consumer is not done with.
	inTransit(ctx context.Context) (int64, error)
	// remove removes everything that the run left beside the database.
	remove(ctx context.Context) error
}

// direct is the stage of a transport that delivers to the consumer itself: a delivery
// ends when the consumer has committed, and nothing lies in between.
type direct struct{}

func (direct) environment() []string                    { return nil }
func (direct) inTransit(context.Context) (int64, error) { return 0, nil }
func (direct) remove(context.Context) error             { return nil }

// kind is a row of the table of transports.
type kind struct {
	// open makes the transport of a run. It connects to nothing. Whatever is not in the
	// database of the run carries its name, so that runs can share servers.
	open func(run string) (transport, error)
	// needs is the variable that names the server, or empty.
	needs string
	// unordered says why the consumer may see events of an order out of order; empty
	// where it must not.
	unordered string
	// droppedBy is where a message that is delivered again must be recognised.
	droppedBy string
}

// The places that recognise a message that came before.
const (
	byInbox = "inbox"
	byRedis = "redis"
)

const defaultKind = "service"

var kinds = map[string]kind{
	"service": {open: openService, droppedBy: byInbox},
	"http":    {open: openHTTP, droppedBy: byInbox},
	"kafka":   {open: openKafka, droppedBy: byInbox, needs: brokersVariable},
	"jobs":    {open: openJobs, droppedBy: byRedis, needs: redisVariable, unordered: "jobs run in no order"},
}

// kindOf finds a transport by its name.
func kindOf(name string) (kind, error) {
	if name == "" {
		name = defaultKind
	}
	k, ok := kinds[name]
	if !ok {
		return kind{}, errors.New("DEST is not one of " + strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if k.needs != "" && os.Getenv(k.needs) == "" {
		return kind{}, fmt.Errorf("%s is not set; `make demo DEST=%s` starts a server and sets it", k.needs, name)
	}
	return k, nil
}

// openFor opens the transport of the run that a database belongs to.
func (k kind) openFor(dsn string) (transport, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	return k.open(cfg.Database)
}
