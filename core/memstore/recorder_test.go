package memstore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
)

// recording runs Record in a goroutine.
func recording(ctx context.Context, s *memstore.Store, tx *memstore.Tx, m inbox.Message) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Record(ctx, tx, m)
		done <- err
	}()
	return done
}

func waiting(t *testing.T, what string, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Fatalf("%s did not wait: %v", what, err)
	default:
	}
}

func TestRecordDetectsDeadlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		txs := []*memstore.Tx{s.Begin(), s.Begin(), s.Begin()}
		messages := []inbox.Message{{ID: "0", Source: "s"}, {ID: "1", Source: "s"}, {ID: "2", Source: "s"}}
		for i, tx := range txs {
			if _, err := s.Record(t.Context(), tx, messages[i]); err != nil {
				t.Fatal(err)
			}
		}
		first := recording(t.Context(), s, txs[0], messages[1])
		second := recording(t.Context(), s, txs[1], messages[2])
		waiting(t, "the first", first)
		waiting(t, "the second", second)
		// The third would close the circle.
		_, err := s.Record(t.Context(), txs[2], messages[0])
		wantCode(t, err, "40P01", true)
		if err := txs[2].Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second got %v after the victim rolled back", err)
		}
		waiting(t, "the first", first)
		if err := txs[1].Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-first; err != nil {
			t.Errorf("the first got %v", err)
		}
	})
}

func TestRecordWaitEnds(t *testing.T) {
	t.Parallel()
	m := inbox.Message{ID: "1", Source: "s"}
	for _, c := range []struct {
		name string
		end  func(tx *memstore.Tx, sp memstore.Savepoint) error
		want bool // the second one is new
	}{
		{"commit", func(tx *memstore.Tx, _ memstore.Savepoint) error { return tx.Commit() }, false},
		{"rollback", func(tx *memstore.Tx, _ memstore.Savepoint) error { return tx.Rollback() }, true},
		{"rollback to a savepoint", func(tx *memstore.Tx, sp memstore.Savepoint) error { return tx.RollbackTo(sp) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				first, second := s.Begin(), s.Begin()
				sp := first.Savepoint()
				if _, err := s.Record(t.Context(), first, m); err != nil {
					t.Fatal(err)
				}
				got := make(chan bool, 1)
				go func() {
					isNew, err := s.Record(t.Context(), second, m)
					if err != nil {
						t.Error(err)
					}
					got <- isNew
				}()
				synctest.Wait()
				if len(got) > 0 {
					t.Fatal("the second did not wait")
				}
				if err := c.end(first, sp); err != nil {
					t.Fatal(err)
				}
				if isNew := <-got; isNew != c.want {
					t.Errorf("the second is new: %v, want %v", isNew, c.want)
				}
			})
		})
	}
}

func TestRecordWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		m := inbox.Message{ID: "1", Source: "s"}
		first, second := s.Begin(), s.Begin()
		if _, err := s.Record(t.Context(), first, m); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := s.Record(ctx, second, m)
		wantCode(t, err, "57014", true)
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited %v, want a minute", waited)
		}
		wantCode(t, second.Commit(), "25P02", false)
	})
}
