package memstore_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/internal/elsewhere"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// breakage is one promise that a store does not keep, and the topic, or one test of
// it, that must see it.
type breakage struct {
	where string
	apply func(s *memstore.Store, f *storetest.Fixture)
}

var breakages = map[string]breakage{
	"settles under any lease":   {"Fencing", sessions(func(s *brokenSession) { s.anyLease = true })},
	"says recorded always":      {"Settle", sessions(func(s *brokenSession) { s.sayRecorded = true })},
	"ignores delays":            {"Settle", sessions(func(s *brokenSession) { s.outcome = func(o *relay.Outcome) { o.Delay = 0 } })},
	"charges what was deferred": {"Outcomes", sessions(func(s *brokenSession) { s.outcome = chargeDeferred })},
	"never loses a lease":       {"Renew", sessions(func(s *brokenSession) { s.keepLeases = true })},
	"returns the newest first":  {"Claim", sessions(func(s *brokenSession) { s.batch = func(b *relay.Batch) { slices.Reverse(b.Records) } })},
	"exceeds the limit":         {"Claim", sessions(func(s *brokenSession) { s.request = func(r *relay.ClaimRequest) { r.Limit += 3 } })},
	"claims any type":           {"Scope/only_what", sessions(func(s *brokenSession) { s.request = widen })},
	"reads numbers as floats":   {"Fidelity", sessions(func(s *brokenSession) { s.batch = floats })},
	"leaves gaps in runs":       {"Runs/a_run_is_consecutive", sessions(func(s *brokenSession) { s.batch = gap })},
	"hands runs to two nodes":   {"Concurrency/order_holds_with_runs", shareRuns},
	"keeps what it published":   {"OnPublished", func(s *memstore.Store, f *storetest.Fixture) { f.Store = keeper{s} }},
	"forgets aggregates":        {"Order", statementsOf(func(st *brokenTx) { st.noAggregate = true })},
	"commits a rollback":        {"Publish", statementsOf(func(st *brokenTx) { st.rollbackCommits = true })},
	"runs duplicates":           {"Inbox", statementsOf(func(st *brokenTx) { st.runAlways = true })},
	"gives up nothing":          {"Reclaim", upkeep(func(m *brokenUpkeep) { m.noBound = true })},
	"takes back too much":       {"Reclaim", upkeep(func(m *brokenUpkeep) { m.noBatch = true })},
	"deletes what is young":     {"Cleanup", upkeep(func(m *brokenUpkeep) { m.noAge = true })},
	"heals nothing":             {"Heal/healthy_entries", upkeep(func(m *brokenUpkeep) { m.noHeal = true })},
}

// TestSuiteFindsBrokenStores runs the suite against stores that break one promise
// each. A suite is worth what it finds; each of these has to make it fail.
func TestSuiteFindsBrokenStores(t *testing.T) {
	t.Parallel()
	if name := elsewhere.Case(); name != "" {
		runBroken(t, breakages[name].apply)
		return
	}
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := elsewhere.Run(t, name, b.where)
			if err == nil || !strings.Contains(out, "--- FAIL: "+elsewhere.Root(t)+"/"+b.where) || strings.Contains(out, "panic:") {
				t.Errorf("%s did not fail as it should: %v\n%s", b.where, err, out)
			}
		})
	}
}

func runBroken(t *testing.T, breakIt func(*memstore.Store, *storetest.Fixture)) {
	storetest.Run(t, storetest.Harness{
		New: func(*testing.T) storetest.Fixture {
			s := memstore.New(memstore.Config{})
			f := newFixture(s)
			breakIt(s, &f)
			return f
		},
		Features: storetest.Features{Runs: true, Archive: true},
	})
}

func chargeDeferred(o *relay.Outcome) {
	if o.Kind == relay.Deferred {
		o.Kind = relay.Retried
	}
}

func widen(r *relay.ClaimRequest) {
	r.Scope, _ = claim.Resolve(claim.Capabilities{"ALPHA": claim.All(), "BETA": claim.All()})
}

func floats(b *relay.Batch) {
	for i := range b.Records {
		var v any
		if json.Unmarshal(b.Records[i].Payload, &v) == nil {
			b.Records[i].Payload, _ = json.Marshal(v)
		}
	}
}

func gap(b *relay.Batch) {
	if len(b.Records) > 2 {
		b.Records = slices.Delete(b.Records, 1, 2)
	}
}

// keeper opens every session with Keep.
type keeper struct{ relay.Store }

func (k keeper) Open(o relay.SessionOptions) relay.Session {
	o.OnPublished = relay.Keep
	return k.Store.Open(o)
}

// brokenUpkeep is a maintenance.Store that disregards an argument.
type brokenUpkeep struct {
	maintenance.Store
	noBound, noBatch, noAge, noHeal bool
}

func upkeep(set func(m *brokenUpkeep)) func(*memstore.Store, *storetest.Fixture) {
	return func(s *memstore.Store, f *storetest.Fixture) {
		m := &brokenUpkeep{Store: s}
		set(m)
		f.Maintenance = m
	}
}

func (m *brokenUpkeep) Reclaim(ctx context.Context, batch, maxClaims int) (maintenance.Reclaimed, error) {
	if m.noBound {
		maxClaims = 1 << 30
	}
	if m.noBatch {
		batch = 1 << 30
	}
	return m.Store.Reclaim(ctx, batch, maxClaims)
}

func (m *brokenUpkeep) Heal(ctx context.Context, window int) (maintenance.Healed, error) {
	if m.noHeal {
		return maintenance.Healed{}, nil
	}
	return m.Store.Heal(ctx, window)
}

func (m *brokenUpkeep) DeletePublished(ctx context.Context, age time.Duration, batch int) (int, error) {
	if m.noAge {
		age = 0
	}
	return m.Store.DeletePublished(ctx, age, batch)
}

// brokenTx is a transaction that disregards something.
type brokenTx struct {
	storetest.Tx
	noAggregate, rollbackCommits, runAlways bool
}

func statementsOf(set func(st *brokenTx)) func(*memstore.Store, *storetest.Fixture) {
	return func(_ *memstore.Store, f *storetest.Fixture) {
		begin := f.Begin
		f.Begin = func(ctx context.Context) (storetest.Tx, error) {
			tx, err := begin(ctx)
			st := &brokenTx{Tx: tx}
			set(st)
			return st, err
		}
	}
}

func (b *brokenTx) PublishAll(ctx context.Context, list ...outbox.Entry) ([]outbox.ID, error) {
	if b.noAggregate {
		for i := range list {
			list[i].AggregateID = ""
		}
	}
	return b.Tx.PublishAll(ctx, list...)
}

func (b *brokenTx) Once(ctx context.Context, m inbox.Message, work func(ctx context.Context) error) (bool, error) {
	ran, err := b.Tx.Once(ctx, m, work)
	if b.runAlways && !ran && err == nil {
		return true, work(ctx)
	}
	return ran, err
}

func (b *brokenTx) Rollback(ctx context.Context) error {
	if b.rollbackCommits {
		return b.Commit(ctx)
	}
	return b.Tx.Rollback(ctx)
}
