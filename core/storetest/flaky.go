package storetest

import (
	"context"
	"errors"
	"sync"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
)

// Op names a call of a session that [Flaky] can make fail.
type Op string

// The calls.
const (
	// OpClaim is relay.Session.Claim.
	OpClaim Op = "claim"
	// OpSettle is relay.Session.Settle.
	OpSettle Op = "settle"
	// OpRenew is relay.Session.Renew.
	OpRenew Op = "renew"
	// OpNextDue is relay.Session.NextDue.
	OpNextDue Op = "next_due"
	// OpDeliverTx is relay.TxSession.DeliverTx.
	OpDeliverTx Op = "deliver_tx"
	// OpAdvertise is relay.Registrar.Advertise.
	OpAdvertise Op = "advertise"
	// OpRetire is relay.Registrar.Retire.
	OpRetire Op = "retire"
)

// Moment says when a call fails.
type Moment int

// The moments.
const (
	// Before: the call does not reach the store.
	Before Moment = iota
	// After: the call takes effect, and its answer is lost: after the commit, before
	// the reply.
	After
	// Hang: the call does not reach the store and returns when its context ends.
	Hang
)

// String returns the moment's name, "unknown" for a value that is none.
func (m Moment) String() string {
	switch m {
	case Before:
		return "before"
	case After:
		return "after"
	case Hang:
		return "hang"
	}
	return "unknown"
}

// Fault is one planned failure.
type Fault struct {
	// Op is the call that fails.
	Op Op
	// Call is the first call of Op that fails: 1, and 0 alike, is the first that is made.
	// Calls are counted over all sessions.
	Call int
	// Count is how many calls in a row fail; 0 means 1.
	Count int
	// When says whether the call takes effect.
	When Moment
	// Err is returned; nil means a retryable *fault.Persistence that wraps
	// [ErrInjected]. After Hang it is the error of the context.
	Err error
}

// Plan is the failures that a [FlakyStore] makes.
type Plan []Fault

// ErrInjected is wrapped by the errors that a [FlakyStore] makes up.
var ErrInjected = errors.New("injected failure")

// FlakyStore is a relay.Store that fails by plan. Create it with [Flaky]; it is safe
// for concurrent use.
type FlakyStore struct {
	store relay.Store
	plan  Plan

	mu    sync.Mutex
	calls map[Op]int
}

var _ relay.Store = (*FlakyStore)(nil)

// Flaky returns store with planned failures. Its sessions implement relay.TxSession
// and relay.Registrar if and only if those of store do.
func Flaky(store relay.Store, plan Plan) *FlakyStore {
	return &FlakyStore{store: store, plan: plan, calls: make(map[Op]int)}
}

// Calls returns how often an operation was called, failed calls included.
func (f *FlakyStore) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// Open implements relay.Store.
func (f *FlakyStore) Open(o relay.SessionOptions) relay.Session {
	inner := f.store.Open(o)
	base := flakySession{flaky: f, Session: inner}
	tx, hasTx := inner.(relay.TxSession)
	reg, hasReg := inner.(relay.Registrar)
	switch {
	case hasTx && hasReg:
		return struct {
			flakySession
			flakyTx
			flakyRegistrar
		}{base, flakyTx{f, tx}, flakyRegistrar{f, reg}}
	case hasTx:
		return struct {
			flakySession
			flakyTx
		}{base, flakyTx{f, tx}}
	case hasReg:
		return struct {
			flakySession
			flakyRegistrar
		}{base, flakyRegistrar{f, reg}}
	}
	return base
}

// next counts a call and returns the failure planned for it, if there is one.
func (f *FlakyStore) next(op Op) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	n := f.calls[op]
	for _, p := range f.plan {
		if first := max(1, p.Call); p.Op == op && n >= first && n < first+max(1, p.Count) {
			return p, true
		}
	}
	return Fault{}, false
}

// call makes one call of the store, or fails as planned.
func (f *FlakyStore) call(ctx context.Context, op Op, do func() error) error {
	planned, fails := f.next(op)
	if !fails {
		return do()
	}
	switch planned.When {
	case After:
		if err := do(); err != nil {
			return err
		}
	case Hang:
		<-ctx.Done()
		return &fault.Persistence{Op: string(op), Transient: true, Err: context.Cause(ctx)}
	}
	if planned.Err != nil {
		return planned.Err
	}
	return &fault.Persistence{Op: string(op), Transient: true, Err: ErrInjected}
}
