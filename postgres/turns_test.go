package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgerr"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

func TestWhenTurnsAreTaken(t *testing.T) {
	t.Parallel()
	var turns turns
	now := time.Now()
	want := func(what string, at time.Time, want turn) {
		t.Helper()
		if got := turns.wanted(at); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("at first", now, sharedTurn)
	turns.left(false)
	want("without a backlog", now, noTurn)
	turns.left(true)
	want("with a backlog", now, sharedTurn)
	turns.met(now)
	want("after a relay was met", now.Add(turnsFor-1), ownTurn)
	want("some time after that", now.Add(turnsFor), sharedTurn)
	turns.overdue(now)
	turns.met(now.Add(turnsOff - turnsFor/2))
	want("soon after a turn was overdue", now.Add(turnsOff-1), noTurn)
	want("and later", now.Add(turnsOff), ownTurn)
}

// TestClaimsThatMeetTakeTurns: a claim that finds its rows locked by another relay makes
// the next one wait for its turn, and one that finds them free does not.
func TestClaimsThatMeetTakeTurns(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	ids := publishing(t, p, alpha("a"), alpha("b"), alpha("c"), alpha("d"))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"}).(*session)
	other := lockEntries(t, p, ids)
	if batch, err := s.Claim(ctx, request(4)); err != nil || len(batch.Records) > 0 {
		t.Fatalf("claimed %v, %v; want nothing", idsOf(batch.Records), err)
	}
	if s.turns.wanted(time.Now()) != ownTurn {
		t.Error("the next claim does not wait for its turn")
	}
	if err := other.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	second := openStore(t, p).Open(relay.SessionOptions{Owner: "two"}).(*session)
	if batch, err := second.Claim(ctx, request(4)); err != nil || len(batch.Records) != 4 {
		t.Fatalf("claimed %v, %v; want all", idsOf(batch.Records), err)
	}
	if second.turns.wanted(time.Now()) == ownTurn {
		t.Error("a relay alone waits for its turn")
	}
}

func lockEntries(t *testing.T, p placed, ids []outbox.ID) pgx.Tx {
	t.Helper()
	tx, err := p.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	lock := "SELECT FROM " + newTable(nil, p.schema).prefix + "outbox WHERE id = ANY ($1) FOR NO KEY UPDATE"
	if _, err := tx.Exec(t.Context(), lock, ids); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestTurn: while one relay has the turn another waits for it, goes on without it when
// it takes too long, and no longer asks for it. Waiting for a turn leaves no time limit
// behind for other locks.
func TestTurn(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	store := openStore(t, p)
	ids := publishing(t, p, alpha("a"), alpha("a"), alpha("b"))
	s := store.Open(relay.SessionOptions{Owner: "one"}).(*session)
	holder, err := p.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(context.WithoutCancel(ctx)) }()
	b := &pgx.Batch{}
	s.queueTurn(b, ownTurn, request(1).Scope.Types(), func(turn) {})
	if err := holder.SendBatch(ctx, b).Close(); err != nil {
		t.Fatal(err)
	}
	s.turns.met(time.Now())
	batch, err := s.Claim(ctx, request(1))
	if err != nil || len(batch.Records) != 1 {
		t.Fatalf("claimed %v, %v; want one", idsOf(batch.Records), err)
	}
	if s.turns.wanted(time.Now()) != noTurn {
		t.Error("asks again for a turn that somebody keeps")
	}

	// Its turn, and a follower that is locked for longer than a turn is waited for.
	if err := holder.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	s = store.Open(relay.SessionOptions{Owner: "two"}).(*session)
	if _, err := s.Settle(ctx, []relay.Outcome{{ID: ids[0], Lease: batch.Lease, Kind: relay.Released}}, []relay.LeaseID{batch.Lease}); err != nil {
		t.Fatal(err)
	}
	locked := lockEntries(t, p, ids[1:2])
	unlocked := make(chan error, 1)
	go func() {
		time.Sleep(1500 * time.Millisecond)
		unlocked <- locked.Rollback(ctx)
	}()
	s.turns.met(time.Now())
	req := request(3)
	req.RunLength = 3
	if batch, err = s.Claim(ctx, req); err != nil || len(batch.Records) != 3 {
		t.Fatalf("claimed %v, %v; want all", idsOf(batch.Records), err)
	}
	if s.turns.wanted(time.Now()) == noTurn {
		t.Error("the turn came, and counts as overdue")
	}
	if err := <-unlocked; err != nil {
		t.Error(err)
	}
}

// TestOtherLockInATurn: a lock that does not come because of the database's own time
// limit is no turn that is overdue: the claim fails, and what it was about to take is
// looked at again.
func TestOtherLockInATurn(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped, func(cfg *pgxpool.Config) { cfg.ConnConfig.RuntimeParams["lock_timeout"] = "100ms" })
	ids := publishing(t, p, alpha("a"), alpha("a"), alpha("b"))
	store, err := NewStore(p.pool, Config{Schema: p.schema, paths: reading.Paths{NoOverlap: true, NoSweep: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := store.Open(relay.SessionOptions{Owner: "one"}).(*session)
	locked := lockEntries(t, p, ids[1:2])
	s.turns.met(time.Now().Add(time.Minute)) // whatever the test takes
	req := request(3)
	req.RunLength = 3
	if _, err := s.Claim(ctx, req); pgerr.Code(err) != pgerr.LockNotAvailable {
		t.Fatalf("got %v, want the error of a lock", err)
	}
	if s.turns.wanted(time.Now()) != ownTurn {
		t.Error("the turn came, and counts as overdue")
	}
	if err := locked.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if batch, err := s.Claim(ctx, req); err != nil || len(batch.Records) != 3 {
		t.Errorf("claimed %v, %v; want all", idsOf(batch.Records), err)
	}
}

// TestTurnsAreOfferedToWhoMetNobody: claims go on beside each other until one of them has
// to be alone. Then also a relay that met nobody waits, and takes turns from then on; and
// relays of other types are not concerned.
func TestTurnsAreOfferedToWhoMetNobody(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	store := openStore(t, p)
	types := request(1).Scope.Types()
	// It is called beside the test's goroutine too, so that it goes on after an error.
	turnOf := func(want turn, types []claim.TypeScope) (s *session, got turn, end func()) {
		t.Helper()
		s = store.Open(relay.SessionOptions{Owner: "any"}).(*session)
		tx, err := p.pool.Begin(ctx)
		if err != nil {
			t.Error(err)
			return s, noTurn, func() {}
		}
		b := &pgx.Batch{}
		s.queueTurn(b, want, types, func(t turn) { got = t })
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			t.Error(err)
		}
		return s, got, func() { _ = tx.Rollback(ctx) }
	}
	for range 2 {
		s, got, end := turnOf(sharedTurn, types)
		defer end()
		if got != sharedTurn || s.turns.wanted(time.Now()) == ownTurn {
			t.Errorf("beside others: %v", got)
		}
	}
	_, _, endFirst := turnOf(ownTurn, []claim.TypeScope{{Type: "OTHER", All: true}})
	waited := make(chan turn)
	go func() {
		s, got, end := turnOf(sharedTurn, []claim.TypeScope{{Type: "OTHER", All: true}})
		end()
		if s.turns.wanted(time.Now()) != ownTurn {
			t.Error("a relay that had to wait does not take turns from then on")
		}
		waited <- got
	}()
	time.Sleep(50 * time.Millisecond) // it waits
	endFirst()
	if got := <-waited; got != ownTurn {
		t.Errorf("after a relay that claimed alone: %v", got)
	}
}
