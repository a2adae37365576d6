package postgres

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// turns decides when the claims of a relay take turns with those of others. Relays that
// drain a backlog together are all at the same place of the index: each would find
// rows that another has just locked or changed, and looking at those again costs more
// than claiming them. One relay alone, or without a backlog, need not wait for anybody.
type turns struct {
	mu      sync.Mutex
	until   time.Time // others are about until then
	refused time.Time // and until then nobody is waited for
}

const (
	// turnsFor is how long claims take turns after rows were lost to another relay.
	turnsFor = time.Second
	// turnsOff is how long they do not after somebody kept the turn for too long.
	turnsOff = 5 * time.Second
)

func (t *turns) wanted(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until) && !now.Before(t.refused)
}

// met notes that another relay was in the way.
func (t *turns) met(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = now.Add(turnsFor)
}

// overdue notes that the turn did not come.
func (t *turns) overdue(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = now.Add(turnsOff)
}

// queueTurn makes the statements that follow in a batch wait for their turn, and notes
// that it came: a lock that they fail to get is another one.
func (s *session) queueTurn(b *pgx.Batch, came *bool) {
	b.Queue(s.stmt.ClaimTurn, s.stmt.Outbox).QueryRow(func(row pgx.Row) error {
		var free bool
		var ignored string
		err := row.Scan(&ignored, &ignored, &free, &ignored)
		if *came = err == nil; *came && !free {
			s.turns.met(time.Now())
		}
		return err
	})
}
