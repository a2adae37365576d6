package postgres

import (
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
)

// turns decides when the claims of a relay take turns with those of others. Relays that
// drain a backlog together are all at the same place of the index: each would find
// rows that another has just locked or changed, and looking at those again costs more
// than claiming them. A relay that met another claims alone for a while. Whoever has a
// backlog and met nobody says that it is there, so that the other is not left to wait
// between claims that take no notice of it. Without a backlog nobody waits.
type turns struct {
	mu      sync.Mutex
	idle    bool      // the last claim left nothing behind
	until   time.Time // others are about until then
	refused time.Time // and until then nobody is waited for
}

// turn is how a claim goes on.
type turn int

const (
	noTurn     turn = iota
	sharedTurn      // beside others that do the same
	ownTurn
)

const (
	// turnsFor is how long claims take turns after rows were lost to another relay.
	turnsFor = time.Second
	// turnsOff is how long they do not after somebody kept the turn for too long.
	turnsOff = 5 * time.Second
)

func (t *turns) wanted(now time.Time) turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case now.Before(t.refused):
		return noTurn
	case now.Before(t.until):
		return ownTurn
	case t.idle:
		return noTurn
	}
	return sharedTurn
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

// left notes whether a claim left something behind.
func (t *turns) left(more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = !more
}

// queueTurn puts the turn before the statements that follow in a batch. took notes
// which it was once it has come: a lock that they fail to get is another one.
func (s *session) queueTurn(b *pgx.Batch, t turn, types []claim.TypeScope, took func(turn)) {
	from := []string{s.stmt.Outbox}
	for _, ts := range types {
		from = append(from, string(ts.Type))
	}
	b.Queue(s.stmt.ClaimTurn, strings.Join(from, " "), t == sharedTurn).QueryRow(func(row pgx.Row) error {
		var how, ignored string
		if err := row.Scan(&ignored, &ignored, &how, &ignored); err != nil {
			return err
		}
		if how == "waited" {
			s.turns.met(time.Now())
		}
		t := ownTurn
		if how == "beside" {
			t = sharedTurn
		}
		took(t)
		return nil
	})
}
