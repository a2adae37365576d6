package memstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

func order(aggregate string) outbox.Entry {
	return outbox.Entry{
		DestinationType: "KAFKA", Destination: "orders", EventType: "order.confirmed",
		AggregateID: aggregate, Payload: json.RawMessage(`{}`),
	}
}

func publish(t *testing.T, s *memstore.Store, tx *memstore.Tx, list ...outbox.Entry) []outbox.ID {
	t.Helper()
	ids, err := memstore.NewPublisher(s, outbox.Config{}).PublishAll(t.Context(), tx, list...)
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
	return ids
}

func wantCode(t *testing.T, err error, code string, retryable bool) {
	t.Helper()
	var failure *fault.Persistence
	if !errors.As(err, &failure) || failure.Code != code || failure.Retryable() != retryable {
		t.Errorf("got %v, want a *fault.Persistence with code %q, retryable %v", err, code, retryable)
	}
}

func TestTxEndsOnce(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	for _, end := range []func(*memstore.Tx) error{(*memstore.Tx).Commit, (*memstore.Tx).Rollback} {
		tx := s.Begin()
		sp := tx.Savepoint()
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"Commit": tx.Commit(), "Rollback": tx.Rollback(), "RollbackTo": tx.RollbackTo(sp),
		} {
			if !errors.Is(err, memstore.ErrTxDone) || fault.Retryable(err) {
				t.Errorf("%s after the end returned %v", what, err)
			}
		}
	}
}

func TestFailedTxRollsBack(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := inbox.Message{ID: "1", Source: "s"}

	tx := s.Begin()
	publish(t, s, tx, order("a"))
	if isNew, err := s.Record(t.Context(), tx, m); err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	_, err := s.Insert(ended, tx, make([]outbox.Record, 1))
	wantCode(t, err, "57014", true)
	_, err = s.Insert(t.Context(), tx, make([]outbox.Record, 1))
	wantCode(t, err, "25P02", false)
	wantCode(t, tx.Commit(), "25P02", false)
	if got := len(s.Rows()); got != 0 {
		t.Errorf("%d entries of a failed transaction are stored", got)
	}
	tx = s.Begin()
	if isNew, err := s.Record(t.Context(), tx, m); err != nil || !isNew {
		t.Errorf("the marker of a failed transaction is still there: %v, %v", isNew, err)
	}
}

func TestSavepoints(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Config{})
	tx := s.Begin()
	outer := tx.Savepoint()
	publish(t, s, tx, order("gone"))
	inner := tx.Savepoint()
	publish(t, s, tx, order("gone"))
	if err := tx.RollbackTo(outer); err != nil {
		t.Fatal(err)
	}
	// The inner savepoint went with the rollback; naming it fails the transaction, and
	// only a rollback to one that exists makes it usable again.
	publish(t, s, tx, order("gone"), order("gone"))
	if err := tx.RollbackTo(inner); err == nil {
		t.Error("a savepoint outlived the rollback to one before it")
	}
	if _, err := s.Insert(t.Context(), tx, make([]outbox.Record, 1)); err == nil {
		t.Error("a failed transaction took an entry")
	}
	if err := tx.RollbackTo(outer); err != nil {
		t.Fatal(err)
	}
	kept := publish(t, s, tx, order("kept"))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	rows := s.Rows()
	if len(rows) != 1 || rows[0].ID != kept[0] {
		t.Errorf("stored %v, want entry %d alone", rows, kept[0])
	}
}

func TestForeignTxIsRefused(t *testing.T) {
	t.Parallel()
	s, other := memstore.New(memstore.Config{}), memstore.New(memstore.Config{})
	if _, err := s.Insert(t.Context(), other.Begin(), make([]outbox.Record, 1)); !fault.IsInvalid(err) {
		t.Errorf("insert returned %v, want a *fault.Invalid", err)
	}
	if _, err := s.Record(t.Context(), other.Begin(), inbox.Message{ID: "1", Source: "s"}); !fault.IsInvalid(err) {
		t.Errorf("record returned %v, want a *fault.Invalid", err)
	}
}

func TestFirstID(t *testing.T) {
	t.Parallel()
	const first = 1<<53 + 1 // the first number that a float64 cannot hold
	s := memstore.New(memstore.Config{FirstID: first})
	lost := s.Begin()
	publish(t, s, lost, order(""))
	if err := lost.Rollback(); err != nil {
		t.Fatal(err)
	}
	tx := s.Begin()
	if ids := publish(t, s, tx, order(""), order("")); ids[0] != first+1 || ids[1] != first+2 {
		t.Errorf("ids %v, want a gap after the rollback and then %d", ids, first+1)
	}
}
