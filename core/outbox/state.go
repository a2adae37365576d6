package outbox

import "slices"

// State is the state of an entry in the relay. The strings are what is stored.
type State string

// The states of an entry.
const (
	// Pending: waiting to be claimed, now or once it is due.
	Pending State = "PENDING"
	// Processing: claimed under a lease by a relay.
	Processing State = "PROCESSING"
	// Published: delivered. Final.
	Published State = "PUBLISHED"
	// DeadLetter: given up. Final, unless somebody puts the entry back on purpose.
	DeadLetter State = "DEAD_LETTER"
)

// transitions holds every legal move. Processing to Pending covers a retry, a
// release, an unresolvable destination and the recovery of an expired lease;
// Processing to DeadLetter also the entry that was claimed too often.
var transitions = map[State][]State{
	Pending:    {Processing},
	Processing: {Pending, Published, DeadLetter},
	DeadLetter: {Pending},
}

// CanBecome reports whether an entry may move from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// Settled reports whether the entry is finished with: a settled entry no longer
// holds back the younger ones of its aggregate.
func (s State) Settled() bool { return s == Published || s == DeadLetter }

// Valid reports whether s is one of the four states.
func (s State) Valid() bool {
	return s == Pending || s == Processing || s.Settled()
}
