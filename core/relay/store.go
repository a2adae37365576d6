package relay

import (
	"context"
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// Store is the port to the table of entries.
type Store interface {
	// Open returns the working memory of one relay in the store. It does no I/O.
	Open(o SessionOptions) Session
}

// SessionOptions are fixed for the life of a session.
type SessionOptions struct {
	// Owner names the relay: unique among all relays of the database that run now.
	Owner string
	// OnPublished says what becomes of a delivered entry.
	OnPublished OnPublished
}

// OnPublished says what becomes of an entry once it is delivered.
type OnPublished string

// What can become of a delivered entry.
const (
	// Keep leaves it in the table as PUBLISHED until retention removes it.
	Keep OnPublished = "KEEP"
	// Archive moves it to the archive in the statement that settles it.
	Archive OnPublished = "ARCHIVE"
	// Delete removes it in the statement that settles it.
	Delete OnPublished = "DELETE"
)

// LeaseID identifies one claim. It is the fencing token of everything that is done
// with the claimed entries: once a lease has been taken back, no settlement that
// names it is recorded any more.
type LeaseID int64

// ClaimRequest says what a relay wants.
type ClaimRequest struct {
	// Limit is the largest number of entries to return, at least 1.
	Limit int
	// RunLength is the largest number of consecutive entries of one aggregate, at least 1.
	RunLength int
	// Lease is how long the claim is good for unless renewed.
	Lease time.Duration
	// Scope is what may be claimed; nothing outside it is returned.
	Scope claim.Snapshot
	// First is the destination type whose turn it is to be served first. What room it
	// leaves goes to the others. Empty means no preference.
	First destination.Type
	// Probe marks a claim that looks for one entry of the single destination in Scope.
	// It must not disturb what the session remembers of its ordinary claims.
	Probe bool
	// Ahead, when not nil, may be called once, while Claim is still at work: the claim is
	// going to return Limit entries, and it is decided where the next has to go on, which
	// may therefore begin already. A store that never calls it loses speed only.
	Ahead func()
}

// Batch is the result of a claim.
type Batch struct {
	// Lease covers all records; 0 when there are none.
	Lease LeaseID
	// Records are the claimed entries in the order in which they should be started.
	// Those of one aggregate are consecutive in their aggregate and in ascending order.
	Records []outbox.Record
	// More says that the claim ended before everything that is due was looked at, so
	// that another claim may find more at once.
	More bool
}

// Session is one relay's access to the store. A claim begins when the one before it has
// returned or called Ahead; the other methods may run concurrently with it and with
// each other. An error of the store is a *fault.Persistence.
type Session interface {
	// Claim leases due entries that are within the scope and not held back by an
	// earlier unsettled entry of their aggregate, oldest due first, each type in turn.
	// In one transaction it makes them PROCESSING, counts the claim on each and
	// records the lease. On error nothing is claimed as far as the caller knows; what
	// the store may have claimed all the same returns when its lease expires.
	Claim(ctx context.Context, req ClaimRequest) (Batch, error)

	// Settle records outcomes and reports for each whether it was recorded: false
	// means that the entry is no longer held under that lease. All outcomes are
	// recorded in one transaction. An error means that it is not known what was
	// recorded; the same call may be repeated, and then reports false for what was
	// recorded the first time. ended names the leases of which nothing is held after
	// this call.
	Settle(ctx context.Context, outcomes []Outcome, ended []LeaseID) (recorded []bool, err error)

	// Renew extends leases, from now by the store's clock, and returns those that are gone.
	Renew(ctx context.Context, leases []LeaseID, lease time.Duration) (lost []LeaseID, err error)

	// NextDue returns how long it is until the next entry of the scope's types becomes
	// due that is not due yet; ok is false when there is none. It is a hint.
	NextDue(ctx context.Context, scope claim.Snapshot) (wait time.Duration, ok bool, err error)
}

// OutcomeKind is what a settlement does to an entry.
type OutcomeKind int

// The kinds of outcome.
const (
	// Published: the entry was delivered; what happens to it is OnPublished.
	Published OutcomeKind = iota + 1
	// Retried: back to PENDING after Delay, one attempt charged.
	Retried
	// DeadLettered: to DEAD_LETTER, one attempt charged.
	DeadLettered
	// Deferred: back to PENDING after Delay, no attempt charged.
	Deferred
	// Released: back to PENDING as if it had never been claimed, due now.
	Released
	// ReleasedBehind: like Released, for an entry behind an unsettled one of its
	// aggregate: its due time stays as it was.
	ReleasedBehind
)

// String returns the kind's name, "unknown" for a value that is none.
func (k OutcomeKind) String() string {
	switch k {
	case Published:
		return "published"
	case Retried:
		return "retried"
	case DeadLettered:
		return "dead-lettered"
	case Deferred:
		return "deferred"
	case Released:
		return "released"
	case ReleasedBehind:
		return "released behind"
	}
	return "unknown"
}

// Outcome settles one entry.
type Outcome struct {
	// ID is the entry.
	ID outbox.ID
	// Lease is the claim under which it is held.
	Lease LeaseID
	// Kind is what is done to it.
	Kind OutcomeKind
	// AggregateID is the entry's, so that the store can look for its successor.
	AggregateID string
	// Delay runs from the moment of the settlement, by the store's clock.
	Delay time.Duration
	// LastError is the failure of Retried, DeadLettered and Deferred: safe text of at most
	// fault.MaxTextLength characters.
	LastError string
	// ErrorType is the Go type of that failure: safe text of at most 500 characters.
	ErrorType string
}

// TxSession is implemented by sessions that can settle an entry in the same
// transaction in which its handler works.
type TxSession interface {
	// DeliverTx begins a transaction, calls work in it, and, if work returned nil,
	// settles the entry as published and commits; the commit is not cancelled with ctx.
	// recorded is false when the entry was no longer held under the lease; the
	// transaction is then rolled back. An error of work comes back unwrapped as workErr,
	// with the transaction rolled back. The lease itself is ended by Settle.
	DeliverTx(ctx context.Context, o Outcome, work func(ctx context.Context, tx any) error) (recorded bool, workErr, err error)
}

// Advertisement is what a relay tells the registry about itself.
type Advertisement struct {
	// Asleep says that the relay waits for a notification.
	Asleep bool
	// Scopes describes what the relay can deliver, by type: "*" or a list of destinations.
	Scopes map[destination.Type]json.RawMessage
	// Stale is the age at which other relays' advertisements are removed.
	Stale time.Duration
}

// Registrar is implemented by sessions of a store that keeps a registry of relays,
// which publishers use to decide whether anybody has to be notified.
type Registrar interface {
	// Advertise records that the relay is alive, and whether it sleeps, and returns how
	// many relays are alive, this one included.
	Advertise(ctx context.Context, ad Advertisement) (alive int, err error)
	// Retire removes the relay from the registry.
	Retire(ctx context.Context) error
}

// Waker delivers hints that new entries may be there. A hint carries nothing, may
// be spurious, and may be lost: polling finds what it missed.
type Waker interface {
	// Subscribe returns a channel that receives one value per hint, coalesced, until
	// cancel is called.
	Subscribe() (hints <-chan struct{}, cancel func())
}
