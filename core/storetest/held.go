package storetest

import (
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// held is a claimed entry with its lease.
type held struct {
	outbox.Record
	lease relay.LeaseID
}

// outcome settles the entry.
func (h held) outcome(kind relay.OutcomeKind) relay.Outcome {
	return relay.Outcome{ID: h.ID, Lease: h.lease, Kind: kind, AggregateID: h.AggregateID}
}

// failed is an outcome with a delay and an error.
func (h held) failed(kind relay.OutcomeKind, delay time.Duration) relay.Outcome {
	o := h.outcome(kind)
	o.Delay, o.LastError, o.ErrorType = delay, "destination said no", "*errors.errorString"
	return o
}

func ids(list []held) []outbox.ID {
	out := make([]outbox.ID, len(list))
	for i := range list {
		out[i] = list[i].ID
	}
	return out
}

// claim makes one claim and checks what holds of every claim.
func (e *env) claim(s relay.Session, req relay.ClaimRequest) ([]held, bool) {
	e.Helper()
	batch, err := s.Claim(e.ctx, req)
	e.must(err, "claim")
	if (batch.Lease == 0) != (len(batch.Records) == 0) {
		e.Fatalf("claim returned %d entries under lease %d", len(batch.Records), batch.Lease)
	}
	if len(batch.Records) > req.Limit {
		e.Fatalf("claim returned %d entries, limit %d", len(batch.Records), req.Limit)
	}
	out := make([]held, len(batch.Records))
	last := map[string]outbox.ID{}
	length := map[string]int{}
	for i, r := range batch.Records {
		out[i] = held{Record: r, lease: batch.Lease}
		if !req.Scope.Allows(r.DestinationType, r.Destination) {
			e.Fatalf("claim returned entry %d, which is outside the scope", r.ID)
		}
		if r.AggregateID == "" {
			continue
		}
		if r.ID <= last[r.AggregateID] {
			e.Fatalf("claim returned entry %d after entry %d of the same aggregate", r.ID, last[r.AggregateID])
		}
		last[r.AggregateID] = r.ID
		if length[r.AggregateID]++; length[r.AggregateID] > req.RunLength {
			e.Fatalf("claim returned more than %d entries of one aggregate", req.RunLength)
		}
	}
	return out, batch.More
}

// take claims until it has n entries. A store may need several claims, since one claim
// looks at a part of the table only.
func (e *env) take(s relay.Session, n int) []held {
	e.Helper()
	return e.takeWith(s, n, e.request())
}

// takeWith is take with a request of its own; its limit is lowered as needed.
func (e *env) takeWith(s relay.Session, n int, req relay.ClaimRequest) (out []held) {
	e.Helper()
	limit := req.Limit
	for deadline := time.Now().Add(patience); len(out) < n; {
		req.Limit = min(limit, n-len(out))
		got, more := e.claim(s, req)
		out = append(out, got...)
		if time.Now().After(deadline) {
			e.Fatalf("claimed %d of %d entries in %v", len(out), n, patience)
		}
		if len(got) == 0 && !more {
			time.Sleep(5 * time.Millisecond)
		}
	}
	return out
}

// next claims until something is found and returns that one batch.
func (e *env) next(s relay.Session, req relay.ClaimRequest) []held {
	e.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		got, more := e.claim(s, req)
		if len(got) > 0 {
			return got
		}
		if !more {
			time.Sleep(5 * time.Millisecond)
		}
	}
	e.Fatalf("nothing was claimed in %v", patience)
	return nil
}

// none checks that a session finds nothing, however often it is told there is more.
func (e *env) none(s relay.Session) {
	e.Helper()
	e.noneWith(s, e.request())
}

func (e *env) noneWith(s relay.Session, req relay.ClaimRequest) {
	e.Helper()
	for range 100 {
		got, more := e.claim(s, req)
		if len(got) > 0 {
			e.Fatalf("claimed %v, want nothing", ids(got))
		}
		if !more {
			return
		}
	}
	e.Fatal("100 claims found nothing and still said that there is more")
}

// settle records outcomes and returns what was recorded.
func (e *env) settle(s relay.Session, outcomes ...relay.Outcome) []bool {
	e.Helper()
	recorded, err := s.Settle(e.ctx, outcomes, nil)
	e.must(err, "settle")
	if len(recorded) != len(outcomes) {
		e.Fatalf("settle returned %d results for %d outcomes", len(recorded), len(outcomes))
	}
	return recorded
}

// settled is settle where every outcome has to be recorded.
func (e *env) settled(s relay.Session, outcomes ...relay.Outcome) {
	e.Helper()
	for i, ok := range e.settle(s, outcomes...) {
		if !ok {
			e.Fatalf("outcome %d of entry %d was not recorded", outcomes[i].Kind, outcomes[i].ID)
		}
	}
}

// deliver settles entries as published.
func (e *env) deliver(s relay.Session, list ...held) {
	e.Helper()
	outcomes := make([]relay.Outcome, len(list))
	for i := range list {
		outcomes[i] = list[i].outcome(relay.Published)
	}
	e.settled(s, outcomes...)
}

// release gives entries back as if they had never been claimed.
func (e *env) release(s relay.Session, list ...held) {
	e.Helper()
	outcomes := make([]relay.Outcome, len(list))
	for i := range list {
		outcomes[i] = list[i].outcome(relay.Released)
	}
	e.settled(s, outcomes...)
}
