package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// filled returns a store with n entries, and a request for them.
func filled(t *testing.T, n int) (*memstore.Store, relay.ClaimRequest) {
	t.Helper()
	s := memstore.New(memstore.Config{})
	tx := s.Begin()
	for range n {
		_, err := memstore.NewPublisher(s, outbox.Config{}).Publish(t.Context(), tx, outbox.Entry{
			DestinationType: "T", Destination: "d", EventType: "e", Payload: json.RawMessage(`1`),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	scope, err := claim.Resolve(claim.Capabilities{"T": claim.All()})
	if err != nil {
		t.Fatal(err)
	}
	return s, relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: time.Minute, Scope: scope}
}

func count(s *memstore.Store, state outbox.State) (n int) {
	for _, r := range s.Rows() {
		if r.State == state {
			n++
		}
	}
	return n
}

func TestFlakyFailsTheChosenCalls(t *testing.T) {
	t.Parallel()
	s, req := filled(t, 9)
	own := errors.New("own")
	flaky := storetest.Flaky(s, storetest.Plan{
		{Op: storetest.OpClaim, Call: 2},
		{Op: storetest.OpClaim, Call: 3, When: storetest.After},
		{Op: storetest.OpClaim, Call: 5, Count: 2, Err: own},
	})
	one, two := flaky.Open(relay.SessionOptions{Owner: "one"}), flaky.Open(relay.SessionOptions{Owner: "two"})
	for i, c := range []struct {
		want    error
		claimed int
	}{{nil, 1}, {storetest.ErrInjected, 1}, {storetest.ErrInjected, 2}, {nil, 3}, {own, 3}, {own, 3}, {nil, 4}} {
		batch, err := []relay.Session{one, two}[i%2].Claim(t.Context(), req)
		if !errors.Is(err, c.want) || (err != nil) != (len(batch.Records) == 0) {
			t.Errorf("call %d returned %d entries and %v, want %v", i+1, len(batch.Records), err, c.want)
		}
		if errors.Is(err, storetest.ErrInjected) && !fault.Retryable(err) {
			t.Errorf("call %d: the made-up error is not retryable", i+1)
		}
		if got := count(s, outbox.Processing); got != c.claimed {
			t.Errorf("after call %d %d entries are claimed, want %d", i+1, got, c.claimed)
		}
	}
	if got := flaky.Calls(storetest.OpClaim); got != 7 {
		t.Errorf("Calls = %d, want 7", got)
	}
}

// TestFlakyEveryCall lets each operation fail once before and once after it took effect.
func TestFlakyEveryCall(t *testing.T) {
	t.Parallel()
	ops := []storetest.Op{
		storetest.OpClaim, storetest.OpSettle, storetest.OpRenew, storetest.OpNextDue,
		storetest.OpDeliverTx, storetest.OpAdvertise, storetest.OpRetire,
	}
	var plan storetest.Plan
	for _, op := range ops {
		plan = append(plan, storetest.Fault{Op: op, Call: 1}, storetest.Fault{Op: op, Call: 2, When: storetest.After})
	}
	s, req := filled(t, 5)
	flaky := storetest.Flaky(s, plan)
	session := flaky.Open(relay.SessionOptions{Owner: "one"})
	ctx := t.Context()
	calls := map[storetest.Op]func() error{
		storetest.OpClaim: func() error { _, err := session.Claim(ctx, req); return err },
		storetest.OpSettle: func() error {
			_, err := session.Settle(ctx, nil, nil)
			return err
		},
		storetest.OpRenew:   func() error { _, err := session.Renew(ctx, nil, time.Minute); return err },
		storetest.OpNextDue: func() error { _, _, err := session.NextDue(ctx, req.Scope); return err },
		storetest.OpDeliverTx: func() error {
			_, _, err := session.(relay.TxSession).DeliverTx(ctx, relay.Outcome{}, func(context.Context, any) error { return nil })
			return err
		},
		storetest.OpAdvertise: func() error {
			_, err := session.(relay.Registrar).Advertise(ctx, relay.Advertisement{})
			return err
		},
		storetest.OpRetire: func() error { return session.(relay.Registrar).Retire(ctx) },
	}
	for _, op := range ops {
		for i, want := range []error{storetest.ErrInjected, storetest.ErrInjected, nil} {
			if err := calls[op](); !errors.Is(err, want) {
				t.Errorf("%s, call %d: %v, want %v", op, i+1, err, want)
			}
		}
	}
}

func TestFlakyKeepsTheErrorOfTheWork(t *testing.T) {
	t.Parallel()
	s, req := filled(t, 1)
	session := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpDeliverTx, Call: 1, When: storetest.After}}).
		Open(relay.SessionOptions{Owner: "one"})
	batch, err := session.Claim(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("work")
	o := relay.Outcome{ID: batch.Records[0].ID, Lease: batch.Lease, Kind: relay.Published}
	recorded, workErr, err := session.(relay.TxSession).DeliverTx(t.Context(), o, func(context.Context, any) error { return failure })
	if recorded || workErr != failure || err != nil { //nolint:errorlint // it must be this very error, not one that wraps it
		t.Errorf("DeliverTx returned %v, %v, %v", recorded, workErr, err)
	}
}

// bare is a session without optional abilities.
type bare struct{ relay.Session }

type bareStore struct{}

func (bareStore) Open(relay.SessionOptions) relay.Session { return bare{} }

func TestFlakyAddsNoAbility(t *testing.T) {
	t.Parallel()
	session := storetest.Flaky(bareStore{}, nil).Open(relay.SessionOptions{})
	if _, ok := session.(relay.TxSession); ok {
		t.Error("a session without DeliverTx got one")
	}
	if _, ok := session.(relay.Registrar); ok {
		t.Error("a session without a registry got one")
	}
}

func TestFlakyHangs(t *testing.T) {
	t.Parallel()
	s, req := filled(t, 1)
	synctest.Test(t, func(t *testing.T) {
		session := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpClaim, Call: 1, When: storetest.Hang}}).
			Open(relay.SessionOptions{Owner: "one"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, err := session.Claim(ctx, req)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("hanging claim returned %v after %v", err, time.Since(start))
		}
	})
	if count(s, outbox.Processing) != 0 {
		t.Error("a hanging claim reached the store")
	}
}

// TestFlakyFirstCall: a fault that does not say which call it means is the first one's.
func TestFlakyFirstCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault storetest.Fault
		fails []bool
	}{
		"zero":       {storetest.Fault{}, []bool{true, false, false}},
		"negative":   {storetest.Fault{Call: -3}, []bool{true, false, false}},
		"first":      {storetest.Fault{Call: 1}, []bool{true, false, false}},
		"second":     {storetest.Fault{Call: 2}, []bool{false, true, false}},
		"zero twice": {storetest.Fault{Count: 2}, []bool{true, true, false}},
	} {
		c.fault.Op = storetest.OpRenew
		session := storetest.Flaky(memstore.New(memstore.Config{}), storetest.Plan{c.fault}).Open(relay.SessionOptions{})
		for i, fails := range c.fails {
			if _, err := session.Renew(t.Context(), nil, time.Minute); errors.Is(err, storetest.ErrInjected) != fails {
				t.Errorf("%s: call %d returned %v", name, i+1, err)
			}
		}
	}
}

func TestMomentNames(t *testing.T) {
	t.Parallel()
	for m, want := range map[storetest.Moment]string{
		storetest.Before: "before", storetest.After: "after", storetest.Hang: "hang", -1: "unknown", 99: "unknown",
	} {
		if m.String() != want {
			t.Errorf("moment %d is %q, want %q", int(m), m, want)
		}
	}
}
