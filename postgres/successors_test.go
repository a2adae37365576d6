package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/internal/stmt"
)

// many is more aggregates than are looked at without asking which of them have an entry left.
const many = 2 * worthAsking

// delivered claims the first entry of many aggregates, of which those of pairs have a
// second one, and says that each was delivered.
func delivered(t *testing.T, p placed, s *session, pairs ...int) (outcomes []relay.Outcome, next []string) {
	t.Helper()
	entries := make([]outbox.Entry, 0, many+len(pairs))
	for i := range many {
		entries = append(entries, alpha(fmt.Sprint("a", i)))
	}
	for _, i := range pairs {
		entries, next = append(entries, entries[i]), append(next, entries[i].AggregateID)
	}
	publishing(t, p, entries...)
	req := request(many)
	req.RunLength = 1
	batch, err := s.Claim(testContext(t), req)
	if err != nil || len(batch.Records) != many {
		t.Fatalf("claimed %d entries: %v", len(batch.Records), err)
	}
	for _, r := range batch.Records {
		outcomes = append(outcomes, relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID})
	}
	return outcomes, next
}

// TestOnlyAggregatesWithAnEntryAreLookedAt: of many aggregates, a claim after the
// settlement looks at those that have an entry left, and claims it.
func TestOnlyAggregatesWithAnEntryAreLookedAt(t *testing.T) {
	t.Parallel()
	for _, after := range []relay.OnPublished{relay.Keep, relay.Archive, relay.Delete} {
		t.Run(string(after), func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			p := place(t, pgtest.Mapped)
			s := openStore(t, p).Open(relay.SessionOptions{Owner: "one", OnPublished: after}).(*session)
			outcomes, next := delivered(t, p, s, 3, 17, 40)
			recorded, err := s.Settle(ctx, outcomes, nil)
			if err != nil || slices.Contains(recorded, false) {
				t.Fatalf("settled: %v, %v", recorded, err)
			}
			if queue := slices.Sorted(slices.Values(s.recheck.queue)); !slices.Equal(queue, slices.Sorted(slices.Values(next))) {
				t.Errorf("%q will be looked at, want %q", queue, next)
			}
			batch, err := s.Claim(ctx, request(many))
			if err != nil || len(batch.Records) != len(next) || batch.More {
				t.Errorf("then claimed %d entries, more %v: %v", len(batch.Records), batch.More, err)
			}
		})
	}
}

// settleWith settles the entries of delivered with some statements replaced.
func settleWith(t *testing.T, replace func(*stmt.Set)) (p placed, s *session, recorded []bool, err error) {
	t.Helper()
	p = place(t, pgtest.Mapped)
	s = openStore(t, p).Open(relay.SessionOptions{Owner: "one"}).(*session)
	outcomes, _ := delivered(t, p, s, 5)
	set := *s.stmt
	replace(&set)
	s.Store = &Store{pool: s.pool, stmt: &set, cfg: s.cfg}
	recorded, err = s.Settle(testContext(t), outcomes, nil)
	return p, s, recorded, err
}

// TestFailedQuestionLosesNothing: outcomes are recorded whatever becomes of the question
// after them, and without its answer every aggregate is looked at.
func TestFailedQuestionLosesNothing(t *testing.T) {
	t.Parallel()
	p, s, recorded, err := settleWith(t, func(set *stmt.Set) {
		set.Successors = "SELECT (1 / (cardinality($1::text[]) - cardinality($1::text[])))::text"
	})
	if err != nil || slices.Contains(recorded, false) {
		t.Errorf("settled: %v, %v", recorded, err)
	}
	if n := len(s.recheck.queue); n != many {
		t.Errorf("%d aggregates will be looked at, want %d", n, many)
	}
	expectStates(t, p, slices.Concat(slices.Repeat([]outbox.State{outbox.Published}, many), []outbox.State{outbox.Pending})...)
}

// TestFailedSettlementIsNotAsked: a settlement that failed is an error, and nothing is
// said of what comes after it.
func TestFailedSettlementIsNotAsked(t *testing.T) {
	t.Parallel()
	_, s, recorded, err := settleWith(t, func(set *stmt.Set) {
		set.SettleKeep = "SELECT $1::bigint[], 1 / (cardinality($2::bigint[]) - cardinality($2::bigint[]))"
	})
	if err == nil || recorded != nil {
		t.Errorf("settled: %v, %v", recorded, err)
	}
	if n := len(s.recheck.queue); n != 0 {
		t.Errorf("%d aggregates will be looked at", n)
	}
}
