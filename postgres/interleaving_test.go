package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// world is one run of the randomised test.
type world struct {
	testing.TB
	ctx     context.Context
	placed  placed
	store   *Store
	checker *orderChecker
	seed    uint64

	silence <-chan struct{} // closed when publishers end
	stop    <-chan struct{} // closed when disturbances end
	calm    <-chan struct{} // closed when everything is delivered
	actor   sync.WaitGroup
}

// TestInterleavings runs many actors at random against one server: relays that claim,
// settle in every way, crash and are too slow; publishers with short, long and
// rolled-back transactions; recovery, repair and terminated connections. After every
// step the checker is asked. In the end everything that was committed is delivered.
//
// SATCHEL_STRESS makes it take minutes, SATCHEL_SEED repeats the choices of a run (the
// server's timing it cannot repeat).
func TestInterleavings(t *testing.T) {
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SATCHEL_SEED"), 10, 64); err == nil {
		seed = s
	}
	length := 8 * time.Second
	if os.Getenv("SATCHEL_STRESS") != "" {
		length = 3 * time.Minute
	}
	ctx := testContext(t)
	p := place(t, pgtest.Mapped, func(cfg *pgxpool.Config) {
		cfg.MaxConns = 40
		cfg.ConnConfig.RuntimeParams["application_name"] = "victim"
	})
	silence, stop, calm := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w := &world{
		TB: t, ctx: ctx, placed: p, store: openStore(t, p), checker: newOrderChecker(), seed: seed,
		silence: silence, stop: stop, calm: calm,
	}
	defer func() {
		for _, problem := range w.checker.report() {
			t.Error(problem)
		}
		if t.Failed() {
			t.Logf("SATCHEL_SEED=%d", seed)
		}
	}()
	for i := range 6 {
		w.run(uint64(i), w.relay)
	}
	for i := range 5 {
		w.run(uint64(100+i), w.publisher)
	}
	w.run(200, w.maintenance)
	w.run(300, w.killer)
	time.Sleep(length)
	close(silence)
	time.Sleep(1500 * time.Millisecond) // the longest transaction of a publisher
	close(stop)
	w.awaitDelivery()
	close(calm)
	w.actor.Wait()
	w.expectAllDelivered()
}

// run starts an actor with choices of its own.
func (w *world) run(number uint64, act func(name string, random *rand.Rand)) {
	w.actor.Go(func() { act(fmt.Sprintf("actor-%d", number), rand.New(rand.NewPCG(w.seed, number))) })
}

// over reports whether a channel is closed or the test at its end.
func (w *world) over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-w.ctx.Done():
		return true
	default:
		return false
	}
}

// disturbed takes the error of a call whose connection may have been terminated: it
// has to be a failure that says that trying again may help.
func (w *world) disturbed(what string, err error) bool {
	if err == nil {
		return false
	}
	if w.ctx.Err() == nil && !fault.Retryable(err) {
		w.Errorf("%s: not retryable: %v", what, err)
	}
	return true
}

// maintenance recovers and repairs, also when it is not needed.
func (w *world) maintenance(_ string, random *rand.Rand) {
	for !w.over(w.calm) {
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		if random.IntN(4) == 0 {
			_, err := w.store.Heal(w.ctx, 1+random.IntN(200))
			w.disturbed("heal", err)
			continue
		}
		_, err := w.store.Reclaim(w.ctx, 1+random.IntN(10), 1_000_000)
		w.disturbed("reclaim", err)
	}
}

// killer terminates connections of the store and of publishers, whatever they do.
func (w *world) killer(_ string, random *rand.Rand) {
	conn := w.placed.Conn(w.TB, "")
	for !w.over(w.stop) {
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		order := "random()"
		if random.IntN(2) == 0 { // rather one that is in the middle of a statement
			order = "state = 'active' DESC, random()"
		}
		_, err := conn.Exec(w.ctx, `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'victim' ORDER BY `+order+` LIMIT 1) AS v`)
		if err != nil && w.ctx.Err() == nil {
			w.Errorf("terminate a connection: %v", err)
		}
	}
}

// awaitDelivery waits until nothing is unsettled.
func (w *world) awaitDelivery() {
	last := -1
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline) && w.ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		err := w.placed.pool.QueryRow(w.ctx, `SELECT count(*) FROM `+newTable(w.placed.pool, w.placed.schema).prefix+
			`outbox WHERE published_at IS NULL`).Scan(&last)
		if err == nil && last == 0 && w.publishersGone() {
			return
		}
	}
	w.Errorf("%d entries are still not delivered", last)
}

// publishersGone reports whether no transaction of a publisher is open.
func (w *world) publishersGone() bool {
	var open int
	err := w.placed.pool.QueryRow(w.ctx, `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open)
	return err == nil && open == 0
}

// expectAllDelivered compares the table with what was committed.
func (w *world) expectAllDelivered() {
	w.placed.pool.Reset() // connections may have been terminated, and not used since
	rows, err := newTable(w.placed.pool, w.placed.schema).Rows(context.WithoutCancel(w.ctx))
	if err != nil {
		w.Fatal(err)
	}
	found := make(map[outbox.ID]bool, len(rows))
	for _, r := range rows {
		found[r.ID] = true
		if r.State != outbox.Published || r.PublishedAt.IsZero() || r.Lease != 0 {
			w.Errorf("entry %d ended as %s, lease %d", r.ID, r.State, r.Lease)
		}
	}
	for id := range w.checker.committed {
		if !found[id] {
			w.Errorf("entry %d was committed and is gone", id)
		}
	}
	w.Logf("%d entries", len(rows))
}
