package memstore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// request asks for up to limit entries of type KAFKA.
func request(t *testing.T, limit int) relay.ClaimRequest {
	t.Helper()
	scope, err := claim.Resolve(claim.Capabilities{"KAFKA": claim.All()})
	if err != nil {
		t.Fatal(err)
	}
	return relay.ClaimRequest{Limit: limit, RunLength: 1, Lease: time.Minute, Scope: scope}
}

func claimed(t *testing.T, s relay.Session, limit int) relay.Batch {
	t.Helper()
	batch, err := s.Claim(t.Context(), request(t, limit))
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return batch
}

// TestVirtualTime pins the moments exactly: inside a bubble the clock moves only when
// everything waits.
func TestVirtualTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		session := s.Open(relay.SessionOptions{Owner: "one"})
		start := time.Now()
		tx := s.Begin()
		publish(t, s, tx, order("now"), outbox.Entry{
			DestinationType: "KAFKA", Destination: "orders", EventType: "e", Payload: 1, ScheduledAt: start.Add(time.Hour),
		})
		time.Sleep(time.Second)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		batch := claimed(t, session, 10)
		if len(batch.Records) != 1 || !batch.Records[0].CreatedAt.Equal(start) || !batch.Records[0].AvailableAt.Equal(start) {
			t.Fatalf("claimed %+v, want the first entry, created and due at its insert", batch.Records)
		}
		wait, ok, err := session.NextDue(t.Context(), request(t, 1).Scope)
		if err != nil || !ok || wait != time.Hour-time.Second {
			t.Errorf("next due in %v, %v, %v", wait, ok, err)
		}
		time.Sleep(time.Minute) // to the very end of the lease: it still holds
		if got, _ := s.Reclaim(t.Context(), 10, 5); got != (maintenance.Reclaimed{}) {
			t.Errorf("reclaimed %+v at the end of the lease", got)
		}
		time.Sleep(time.Nanosecond)
		if got, _ := s.Reclaim(t.Context(), 10, 5); got != (maintenance.Reclaimed{Leases: 1, Returned: 1}) {
			t.Errorf("reclaimed %+v after the lease", got)
		}
		o := relay.Outcome{Kind: relay.Retried, Delay: 10 * time.Second}
		batch = claimed(t, session, 10)
		o.ID, o.Lease = batch.Records[0].ID, batch.Lease
		time.Sleep(5 * time.Second)
		settledAt := time.Now()
		if recorded, err := session.Settle(t.Context(), []relay.Outcome{o}, nil); err != nil || !recorded[0] {
			t.Fatal(recorded, err)
		}
		if row := s.Rows()[0]; !row.AvailableAt.Equal(settledAt.Add(10*time.Second)) || !row.UpdatedAt.Equal(settledAt) {
			t.Errorf("available at %v, updated at %v, settled at %v", row.AvailableAt, row.UpdatedAt, settledAt)
		}
		time.Sleep(10*time.Second - 1)
		if got := claimed(t, session, 10); len(got.Records) != 0 {
			t.Error("claimed before the delay was over")
		}
		time.Sleep(time.Nanosecond)
		if got := claimed(t, session, 10); len(got.Records) != 1 {
			t.Error("not claimed when the delay was over")
		}
	})
}

func TestRowsShowTheClaim(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	tx := s.Begin()
	publish(t, s, tx, order("a"))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	before := s.Rows()[0]
	batch := claimed(t, s.Open(relay.SessionOptions{Owner: "one"}), 1)
	row := s.Rows()[0]
	if before.Owner != "" || row.Owner != "one" || row.Lease != batch.Lease || row.ClaimedAt.IsZero() || row.State != outbox.Processing {
		t.Errorf("row is %+v", row)
	}
	copy(row.Payload, "XX")
	if got := string(s.Rows()[0].Payload); got != "{}" {
		t.Errorf("changing a copy changed the store: %s", got)
	}
}

func TestClaimRefusesNonsense(t *testing.T) {
	t.Parallel()
	session := memstore.New(memstore.Config{}).Open(relay.SessionOptions{Owner: "one"})
	for _, c := range []struct{ limit, run int }{{0, 1}, {-1, 1}, {1, 0}} {
		req := request(t, c.limit)
		req.RunLength = c.run
		if _, err := session.Claim(t.Context(), req); err == nil {
			t.Errorf("limit %d with run length %d was accepted", c.limit, c.run)
		}
	}
}

// TestFollowersFillTheRoom pins how this store shares a claim: heads first, then one
// more of each aggregate per round.
func TestFollowersFillTheRoom(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	tx := s.Begin()
	ids := publish(t, s, tx, order("a"), order("a"), order("a"), order("b"), order("b"), order("b"), order("c"))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	req := request(t, 6)
	req.RunLength = 3
	batch, err := s.Open(relay.SessionOptions{Owner: "one"}).Claim(t.Context(), req)
	if err != nil || !batch.More {
		t.Fatalf("claim: more %v, %v", batch.More, err)
	}
	want := []outbox.ID{ids[0], ids[3], ids[6], ids[1], ids[4], ids[2]}
	for i, r := range batch.Records {
		if r.ID != want[i] {
			t.Errorf("place %d: entry %d, want %d", i, r.ID, want[i])
		}
	}
}

func TestWakerCoalesces(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	hints, cancel := s.Waker().Subscribe()
	defer cancel()
	tx := s.Begin()
	publish(t, s, tx, order("a"))
	if len(hints) != 0 {
		t.Error("a hint came before the commit")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // three more commits, one of them empty, make no second hint
		tx := s.Begin()
		publish(t, s, tx, order("a"))
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if len(hints) != 1 {
		t.Errorf("%d hints wait, want 1", len(hints))
	}
	<-hints
	if err := s.Begin().Commit(); err != nil || len(hints) != 0 {
		t.Errorf("an empty commit gave %d hints, %v", len(hints), err)
	}
	rolledBack := s.Begin()
	publish(t, s, rolledBack, order("a"))
	if err := rolledBack.Rollback(); err != nil || len(hints) != 0 {
		t.Errorf("a rollback gave %d hints, %v", len(hints), err)
	}
}
