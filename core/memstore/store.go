package memstore

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Config adjusts a [Store]. The zero value is ready to use.
type Config struct {
	// FirstID is the id of the first entry; below 1 means 1. A test that wants ids which do
	// not survive a float64 gives a large one.
	FirstID outbox.ID
}

// Store is everything that satchel keeps, in memory. Create it with [New]; it is
// safe for concurrent use.
type Store struct {
	waker waker

	mu     sync.Mutex // guards everything below
	nextID outbox.ID
	// rows is the table; live the part of it that is unsettled, and aggregates the
	// ordered part of live, ascending by id.
	rows       map[outbox.ID]*row
	live       map[outbox.ID]*row
	aggregates map[string][]*row
	archive    []Row

	nextLease relay.LeaseID
	leases    map[relay.LeaseID]*lease
	markers   map[inbox.Message]*marker
	relays    map[string]registration
	healed    outbox.ID // how far Heal has looked
}

var (
	_ relay.Store         = (*Store)(nil)
	_ maintenance.Store   = (*Store)(nil)
	_ outbox.Writer[*Tx]  = (*Store)(nil)
	_ inbox.Recorder[*Tx] = (*Store)(nil)
	_ relay.Waker         = (*waker)(nil)
	_ relay.Session       = (*session)(nil)
	_ relay.TxSession     = (*session)(nil)
	_ relay.Registrar     = (*session)(nil)
)

// lease is one claim that is not over.
type lease struct {
	owner   string
	expires time.Time
	entries []outbox.ID
}

// New returns an empty store.
func New(cfg Config) *Store {
	return &Store{
		nextID:     max(1, cfg.FirstID),
		rows:       make(map[outbox.ID]*row),
		live:       make(map[outbox.ID]*row),
		aggregates: make(map[string][]*row),
		leases:     make(map[relay.LeaseID]*lease),
		markers:    make(map[inbox.Message]*marker),
		relays:     make(map[string]registration),
	}
}

// NewPublisher returns a publisher that writes to s.
func NewPublisher(s *Store, cfg outbox.Config) *outbox.Publisher[*Tx] {
	return outbox.NewPublisher[*Tx](s, cfg)
}

// NewProcessor returns a processor that records in s.
func NewProcessor(s *Store) *inbox.Processor[*Tx] { return inbox.NewProcessor[*Tx](s) }

// Rows returns a copy of every committed entry, archived ones included, by id.
func (s *Store) Rows() []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.archive)
	for _, r := range s.rows {
		out = append(out, r.view(s.leases))
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Relays returns the owners of the relays in the registry, sorted.
func (s *Store) Relays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.relays))
}

// add makes a row part of the table, and of its aggregate at the place of its id.
func (s *Store) add(r *row) {
	s.rows[r.ID] = r
	s.live[r.ID] = r
	if r.AggregateID == "" {
		return
	}
	list := s.aggregates[r.AggregateID]
	at, _ := slices.BinarySearchFunc(list, r.ID, byID)
	s.aggregates[r.AggregateID] = slices.Insert(list, at, r)
}

// settled takes a row out of the unsettled ones, so that its successor is a head.
func (s *Store) settled(r *row) {
	delete(s.live, r.ID)
	if r.AggregateID == "" {
		return
	}
	list := s.aggregates[r.AggregateID]
	if at, found := slices.BinarySearchFunc(list, r.ID, byID); found {
		list = slices.Delete(list, at, at+1)
	}
	if len(list) == 0 {
		delete(s.aggregates, r.AggregateID)
		return
	}
	s.aggregates[r.AggregateID] = list
}

func byID(r *row, id outbox.ID) int { return cmp.Compare(r.ID, id) }

// isHead reports whether nothing unsettled precedes r in its aggregate.
func (s *Store) isHead(r *row) bool {
	return r.AggregateID == "" || s.aggregates[r.AggregateID][0] == r
}
