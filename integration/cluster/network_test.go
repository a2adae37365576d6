package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// A relay is cut off from the database by a network that swallows everything. Its handler is told that the lease is lost;
// another node delivers; what the first one says in the end, when the network lets it, does not count.
func TestNetworkThatSwallowsEverything(t *testing.T) {
	for name, late := range map[string]bool{"what was sent is lost": false, "what was sent arrives late": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			proxy := lab.NewProxy(t, s.db.Host())
			far := s.db.Through(proxy, "cut off").Pool(t)
			began, lost := make(chan struct{}), make(chan struct{})
			outcome := make(chan relay.Attempt, 10)
			cfg := lab.Fast()
			cfg.Owner, cfg.StoreTimeout = "far", 3*time.Second
			cfg.Observers = []relay.Observer{relay.ObserverFunc(func(_ context.Context, a relay.Attempt) { outcome <- a })}
			lab.Relay(t, lab.Store(t, far), cfg, s.journalled("far", func(ctx context.Context, n int) error {
				if n > 1 {
					return nil
				}
				close(began)
				<-ctx.Done() // the lease is lost; but the work was done
				close(lost)
				return nil
			}))
			lab.Publish(t, s.pool, lab.Entry("a", 1))
			lab.Receive(t, "the delivery begins", began)
			proxy.Freeze(true)
			lab.Receive(t, "the handler is told", lost)

			lab.Eventually(t, "it is in the journal", func() bool { return s.journal.Count(t, lab.Delivered) == 1 })
			s.journal.Write(lab.Event{Kind: lab.Killed, Node: "far"}) // as far as the others can tell
			near := lab.Store(t, s.pool)
			lab.Recover(t, near, maintenance.Config{})
			cfg = lab.Fast()
			cfg.Owner = "near"
			lab.Relay(t, near, cfg, s.journalled("near", nil))
			s.published(1)
			before := lab.Value[string](t, s.pool, `SELECT outbox::text FROM outbox`)
			if late {
				proxy.Thaw()
			} else {
				proxy.Cut()
				proxy.Heal()
			}
			if a := lab.Receive(t, "the outcome of the first delivery", outcome); a.Recorded || a.Err != nil {
				t.Errorf("recorded %v, error %v", a.Recorded, a.Err)
			}
			if after := lab.Value[string](t, s.pool, `SELECT outbox::text FROM outbox`); after != before {
				t.Errorf("the row changed from %s to %s", before, after)
			}
			// The first relay is of use again.
			lab.Publish(t, s.pool, lab.Entry("a", 2))
			s.published(2)
			s.journal.Check(t, s.pool, 1)
		})
	}
}
