package outboxtest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// Source shows the entries of a store, in any state and in any order.
type Source interface {
	// Entries returns every entry that the source can see now.
	Entries(ctx context.Context) ([]outbox.Record, error)
}

// SourceFunc is a Source that is a function.
type SourceFunc func(ctx context.Context) ([]outbox.Record, error)

// Entries implements Source.
func (f SourceFunc) Entries(ctx context.Context) ([]outbox.Record, error) { return f(ctx) }

// Memory is the source of a memstore: its committed entries.
func Memory(s *memstore.Store) Source {
	return SourceFunc(func(context.Context) ([]outbox.Record, error) {
		rows := s.Rows()
		records := make([]outbox.Record, len(rows))
		for i := range rows {
			records[i] = rows[i].Record
		}
		return records, nil
	})
}

// Added runs do and returns the entries that the source has afterwards and had not before,
// in the order of their ids. A source that fails fails the test at once.
func Added(t testing.TB, source Source, do func()) []outbox.Record {
	t.Helper()
	before := map[outbox.ID]bool{}
	for _, r := range entries(t, source) {
		before[r.ID] = true
	}
	do()
	added := slices.DeleteFunc(entries(t, source), func(r outbox.Record) bool { return before[r.ID] })
	slices.SortFunc(added, func(a, b outbox.Record) int { return cmp.Compare(a.ID, b.ID) })
	return added
}

func entries(t testing.TB, source Source) []outbox.Record {
	t.Helper()
	list, err := source.Entries(t.Context())
	if err != nil {
		t.Fatalf("outboxtest: reading the entries: %v", err)
	}
	return list
}
