package postgres

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
