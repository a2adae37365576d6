package storetest

import (
	"context"
	"errors"
	"strings"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

var inboxChecks = []check{
	{"a message is new once", nothing, newOnce},
	{"id and source both count, exactly", nothing, messageIdentity},
	{"a duplicate leaves the transaction usable", nothing, duplicateUsable},
	{"a rollback makes the message new again", nothing, inboxRollback},
	{"an error of the work comes back as it is", nothing, workError},
	{"marker and entries commit together", nothing, markerAndEntry},
	{"the longest ids are taken, longer ones refused", nothing, inboxBounds},
	{"a nil or ended transaction is refused", nothing, inboxBadTx},
}

// once runs Once with work that does nothing and returns whether it ran.
func (e *env) once(tx Statements, m inbox.Message) bool {
	e.Helper()
	called := false
	ran, err := tx.Once(e.ctx, m, func(context.Context) error { called = true; return nil })
	e.must(err, "once")
	if ran != called {
		e.Errorf("once said %v, work was called: %v", ran, called)
	}
	return ran
}

func newOnce(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	e.inTx(func(tx Tx) {
		e.equal("first", e.once(tx, m), true)
		e.equal("again in the transaction", e.once(tx, m), false)
	})
	for range 3 {
		e.inTx(func(tx Tx) { e.equal("after the commit", e.once(tx, m), false) })
	}
}

func messageIdentity(e *env) {
	e.inTx(func(tx Tx) {
		for _, m := range []inbox.Message{
			{ID: "a", Source: "s"},
			{ID: "b", Source: "s"},
			{ID: "a", Source: "t"},
			{ID: "s", Source: "a"},
			{ID: "A", Source: "s"},
			{ID: "a ", Source: "s"},
			{ID: " a", Source: "s"},
			{ID: "a", Source: "s "},
			{ID: "as", Source: "x"},
			{ID: "a", Source: "sx"},
			{ID: "é", Source: "s"},
			{ID: "e\u0301", Source: "s"},
			{ID: "'; --", Source: `\`},
		} {
			e.equal("new "+m.ID+"/"+m.Source, e.once(tx, m), true)
		}
	})
}

func duplicateUsable(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	e.inTx(func(tx Tx) { e.once(tx, m) })
	e.inTx(func(tx Tx) {
		e.publishIn(tx, entry("a"))
		e.equal("duplicate", e.once(tx, m), false)
		e.publishIn(tx, entry("a"))
	})
	e.equal("rows", len(e.rows()), 2)
}

func inboxRollback(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	tx := e.begin()
	e.equal("first", e.once(tx, m), true)
	e.must(tx.Rollback(e.ctx), "rollback")
	tx = e.begin()
	undo, err := tx.Savepoint(e.ctx)
	e.must(err, "savepoint")
	e.equal("after the rollback", e.once(tx, m), true)
	e.must(undo(e.ctx), "rollback to savepoint")
	e.equal("after the rollback to the savepoint", e.once(tx, m), true)
	e.must(tx.Commit(e.ctx), "commit")
	e.inTx(func(tx Tx) { e.equal("after the commit", e.once(tx, m), false) })
}

func workError(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	failure := errors.New("work failed")
	tx := e.begin()
	ran, err := tx.Once(e.ctx, m, func(context.Context) error { return failure })
	if !ran || err != failure { //nolint:errorlint // it must be this very error, not one that wraps it
		e.Errorf("once returned %v, %v", ran, err)
	}
	e.must(tx.Rollback(e.ctx), "rollback")
	e.inTx(func(tx Tx) { e.equal("after the rollback", e.once(tx, m), true) })
}

func markerAndEntry(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	for _, commit := range []bool{false, true, true} {
		tx := e.begin()
		_, err := tx.Once(e.ctx, m, func(ctx context.Context) error {
			_, err := tx.PublishAll(ctx, entry("reply"))
			return err
		})
		e.must(err, "once")
		if commit {
			e.must(tx.Commit(e.ctx), "commit")
		} else {
			e.must(tx.Rollback(e.ctx), "rollback")
		}
	}
	e.equal("replies", len(e.rows()), 1)
}

func inboxBounds(e *env) {
	wide := strings.Repeat("\U0001F600", inbox.MaxLength)
	e.inTx(func(tx Tx) {
		e.equal("longest", e.once(tx, inbox.Message{ID: wide, Source: wide}), true)
		for _, bad := range []inbox.Message{
			{ID: wide + "x", Source: "s"},
			{ID: "i", Source: wide + "x"},
			{ID: "", Source: "s"},
			{ID: "i", Source: " "},
			{ID: "\xff", Source: "s"},
			{ID: "a\x00", Source: "s"},
		} {
			if ran, err := tx.Once(e.ctx, bad, func(context.Context) error { return nil }); ran || !fault.IsInvalid(err) {
				e.Errorf("once returned %v, %v; want a *fault.Invalid", ran, err)
			}
		}
		if ran, err := tx.Once(e.ctx, inbox.Message{ID: "i", Source: "s"}, nil); ran || !fault.IsInvalid(err) {
			e.Errorf("once without work returned %v, %v; want a *fault.Invalid", ran, err)
		}
		e.equal("longest again", e.once(tx, inbox.Message{ID: wide, Source: wide}), false)
	})
}

func inboxBadTx(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	work := func(context.Context) error { e.Error("work was called"); return nil }
	if ran, err := e.NilTx.Once(e.ctx, m, work); ran || !fault.IsInvalid(err) {
		e.Errorf("once with a nil transaction returned %v, %v; want a *fault.Invalid", ran, err)
	}
	tx := e.begin()
	e.must(tx.Commit(e.ctx), "commit")
	var failure *fault.Persistence
	if ran, err := tx.Once(e.ctx, m, work); ran || !errors.As(err, &failure) {
		e.Errorf("once in an ended transaction returned %v, %v; want a *fault.Persistence", ran, err)
	}
	e.inTx(func(tx Tx) { e.equal("afterwards", e.once(tx, m), true) })
}
