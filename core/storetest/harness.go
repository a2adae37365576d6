package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Harness connects the suite to a store.
type Harness struct {
	// New returns an empty store of its own. It is called once per test, from parallel
	// tests; it cleans up with t.Cleanup. Required.
	New func(t *testing.T) Fixture
	// Features say which optional abilities the store has.
	Features Features
	// Topics are the only ones to run; empty means all. It is for a case that has the rest
	// of the suite in common with another. A name that is no topic fails the test.
	Topics []string
}

// Features are abilities that a store may lack. The tests of one that is not set are
// skipped, visibly.
type Features struct {
	// Runs: a claim returns as many consecutive entries of an aggregate as its request
	// allows. A store without it returns one at a time.
	Runs bool
	// Archive: the store implements relay.Archive.
	Archive bool
	// TxDelivery: sessions implement relay.TxSession, and Fixture.Adopt is set.
	TxDelivery bool
	// Registry: sessions implement relay.Registrar, and Fixture.Relays is set.
	Registry bool
	// Waker: Fixture.Waker is set.
	Waker bool
}

// Fixture is one empty store and the ways into it.
type Fixture struct {
	// Store is the store under test, for relays. Required, like everything up to Table.
	Store relay.Store
	// Maintenance is the same store, for recovery and cleanup.
	Maintenance maintenance.Store
	// Begin starts a transaction of an application.
	Begin func(ctx context.Context) (Tx, error)
	// NilTx publishes and records with a transaction that is nil.
	NilTx Statements
	// Table looks into the store.
	Table Table

	// Waker hints at commits. See Features.Waker.
	Waker relay.Waker
	// Adopt returns the statements of the transaction that a session hands to the work
	// of a transactional delivery. See Features.TxDelivery.
	Adopt func(tx any) Statements
	// Relays returns the owners in the registry. See Features.Registry.
	Relays func(ctx context.Context) ([]string, error)
}

// Statements are what an application does with the store inside a transaction: an
// outbox.Publisher and an inbox.Processor, both with their default configuration.
type Statements interface {
	// PublishAll is that of the publisher, in the transaction.
	PublishAll(ctx context.Context, entries ...outbox.Entry) ([]outbox.ID, error)
	// Once is that of the processor, in the transaction.
	Once(ctx context.Context, m inbox.Message, work func(ctx context.Context) error) (ran bool, err error)
}

// Tx is a transaction of an application.
type Tx interface {
	Statements
	// Savepoint marks the present state; undo rolls the transaction back to it.
	Savepoint(ctx context.Context) (undo func(ctx context.Context) error, err error)
	// Commit ends the transaction; after a failed statement it returns an error.
	Commit(ctx context.Context) error
	// Rollback may be called after the end of the transaction; its error is then ignored.
	Rollback(ctx context.Context) error
}

// Table looks into the store, and changes what only time or another program could.
type Table interface {
	// Rows returns every committed entry, archived ones included, in any order.
	Rows(ctx context.Context) ([]Row, error)
	// Age moves every time that is stored with the entries into the past: available,
	// scheduled, created, updated, claimed, published and dead-lettered times.
	Age(ctx context.Context, by time.Duration, ids ...outbox.ID) error
	// AgeLeases moves the ends of leases into the past.
	AgeLeases(ctx context.Context, by time.Duration, leases ...relay.LeaseID) error
	// AgeInbox moves the time of every inbox marker into the past.
	AgeInbox(ctx context.Context, by time.Duration) error
	// Break does to an entry what only another program could.
	Break(ctx context.Context, id outbox.ID, how Damage) error
}

// Row is an entry as it is stored. An archived row has the fields of its record that
// the archive keeps; the suite looks at id, message id, payload, headers, metadata,
// destination and event type.
type Row struct {
	outbox.Record
	// State is Published for an archived row.
	State outbox.State
	// Lease is 0 when none holds the entry.
	Lease relay.LeaseID
	// PublishedAt is zero when the entry is not published.
	PublishedAt time.Time
	// DeadLetteredAt is zero when the entry is not dead-lettered.
	DeadLetteredAt time.Time
	// LastError is the text of the last failure.
	LastError string
	// ErrorType is the type of the last failure.
	ErrorType string
	// Archived says that the entry is in the archive.
	Archived bool
}

// Damage is something that no code of this version does to an entry.
type Damage int

// The kinds of damage.
const (
	// LoseLease: the entry is PROCESSING, but under no lease.
	LoseLease Damage = iota + 1
	// UnmarkedPublished: the state is PUBLISHED, but there is no published time.
	UnmarkedPublished
	// UnmarkedDeadLetter: the state is DEAD_LETTER, but there is no time of death.
	UnmarkedDeadLetter
)

// String names the damage.
func (d Damage) String() string {
	switch d {
	case LoseLease:
		return "lost lease"
	case UnmarkedPublished:
		return "unmarked published"
	case UnmarkedDeadLetter:
		return "unmarked dead letter"
	}
	return "unknown damage"
}
