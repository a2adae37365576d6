package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/relay"
)

// successors are the aggregates of which an entry was settled: their next entry was
// passed while it was blocked, and is looked at in the next claim. The claim's snapshot
// is younger than the settlement, so it sees everything that was committed before it.
type successors struct {
	queue []string
	known map[string]struct{}
}

// minSuccessors is the least number of aggregates that a claim looks up if there are any.
const minSuccessors = 100

func (s *successors) add(aggregate string) {
	if aggregate == "" {
		return
	}
	if _, ok := s.known[aggregate]; ok {
		return
	}
	if s.known == nil {
		s.known = make(map[string]struct{})
	}
	s.known[aggregate] = struct{}{}
	s.queue = append(s.queue, aggregate)
}

// take removes and returns up to n aggregates, the oldest first.
func (s *successors) take(n int) []string {
	n = min(n, len(s.queue))
	taken := append([]string{}, s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	for _, aggregate := range taken {
		delete(s.known, aggregate)
	}
	return taken
}

// worthAsking is how many aggregates are so many that the settlement asks which of them
// have an entry left: mostly few have, and looking the others up would hold up claims.
const worthAsking = 32

// finished returns the aggregates of which an entry will not be seen again; some may be
// there twice.
func finished(outcomes []relay.Outcome) []string {
	aggregates := make([]string, 0, len(outcomes))
	last := ""
	for i := range outcomes {
		o := &outcomes[i]
		if o.AggregateID != "" && o.AggregateID != last && (o.Kind == relay.Published || o.Kind == relay.DeadLettered) {
			aggregates, last = append(aggregates, o.AggregateID), o.AggregateID
		}
	}
	return aggregates
}

// followers are those of some aggregates that have an entry left.
type followers struct {
	of    []string
	asked bool // of the server, which answered: everything queued before has succeeded
	found []string
}

func (f *followers) read(rows pgx.Rows) (err error) {
	f.asked = true
	f.found, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

// known returns the aggregates that are to be looked at: all, if that is unknown.
func (f *followers) known(err error) []string {
	if f.asked && err == nil {
		return f.found
	}
	return f.of
}
