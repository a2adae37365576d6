package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
)

// orders say what a child is to do.
type orders struct {
	Database lab.Database
	Journal  string
	Node     string
	// Aggregate is what a publisher writes to; Hang makes it stop before a commit, Silent after the first one.
	Aggregate    string
	Hang, Silent bool
	// Batch is the size of a relay's claims; Work the longest time that a delivery takes.
	Batch int
	Work  time.Duration
	// At is where a relay stops for ever: "claimed", "delivered", or nowhere.
	At string
	// Poison is the number of the entry that ends the process that delivers it.
	Poison int
	// MaxClaims is after how many lost claims an entry is given up.
	MaxClaims int
}

// forever is what a child does that waits to be killed.
func forever() { select {} }

// publisher writes business rows and entries, one of each in a transaction.
func publisher(ctx context.Context, text []byte, say func(string)) error {
	var o orders
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	pool, err := o.Database.Open(lab.Size(2))
	if err != nil {
		return err
	}
	defer pool.Close()
	p, err := lab.NewPublisher()
	if err != nil {
		return err
	}
	var last func()
	if o.Hang {
		last = func() { say("uncommitted"); forever() }
	}
	for n := 1; ctx.Err() == nil; n++ {
		if _, err := p.Write(ctx, pool, last, lab.Entry(o.Aggregate, n)); err != nil {
			return err
		}
		say(fmt.Sprint("committed ", n))
		if o.Silent {
			forever()
		}
	}
	return nil
}

// runRelay runs a relay with a recovery beside it.
func runRelay(ctx context.Context, text []byte, say func(string)) error {
	var o orders
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	pool, err := o.Database.Open(lab.Size(8))
	if err != nil {
		return err
	}
	defer pool.Close()
	journal, err := lab.OpenJournal(o.Journal)
	if err != nil {
		return err
	}
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	handler := lab.Handle(func(ctx context.Context, e delivery.Envelope) error {
		if o.At == "claimed" {
			say("claimed")
			forever()
		}
		if o.Poison != 0 && lab.Number(e) == o.Poison {
			say("poisoned")
			os.Exit(7)
		}
		return journal.Record(ctx, o.Node, e, func(context.Context, int) error {
			if o.Work > 0 {
				time.Sleep(rand.N(o.Work))
			}
			return nil
		})
	})
	cfg := lab.Fast()
	cfg.Owner, cfg.BatchSize = o.Node, o.Batch
	var s relay.Store = store
	if o.At == "delivered" {
		s = hanging{store, say}
	}
	r, err := relay.New(s, []delivery.Handler{handler}, cfg)
	if err != nil {
		return err
	}
	if o.At == "" {
		go recoverEvery(ctx, store, o.MaxClaims, 20, 100*time.Millisecond)
	}
	say("running")
	return r.Run(ctx)
}

// recovery does nothing but take back leases, one in each transaction.
func recovery(ctx context.Context, text []byte, say func(string)) error {
	var o orders
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	pool, err := o.Database.Open(lab.Size(2))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	say("running")
	recoverEvery(ctx, store, o.MaxClaims, 1, time.Millisecond)
	return nil
}

func recoverEvery(ctx context.Context, store maintenance.Store, maxClaims, batch int, pause time.Duration) {
	for ctx.Err() == nil {
		_, _ = maintenance.Recovery{Store: store, Config: maintenance.Config{BatchSize: batch, MaxClaims: maxClaims}}.Run(ctx)
		time.Sleep(pause)
	}
}

// hanging is a store in which no settlement begins.
type hanging struct {
	*postgres.Store
	say func(string)
}

func (h hanging) Open(o relay.SessionOptions) relay.Session {
	return hangingSession{h.Store.Open(o), h.say}
}

type hangingSession struct {
	relay.Session
	say func(string)
}

func (h hangingSession) Settle(context.Context, []relay.Outcome, []relay.LeaseID) ([]bool, error) {
	h.say("delivered")
	forever()
	return nil, nil
}
