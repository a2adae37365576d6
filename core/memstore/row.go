package memstore

import (
	"bytes"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Row is an entry as the store holds it, for inspection.
type Row struct {
	outbox.Record
	// State is the state of the entry; Published for an archived one.
	State outbox.State
	// Lease is the claim under which the entry is held, 0 when it is not.
	Lease relay.LeaseID
	// Owner is the relay that holds it, empty when none does.
	Owner string
	// ClaimedAt is the time of the last claim, zero before the first.
	ClaimedAt time.Time
	// PublishedAt is when the entry was delivered, zero if it was not.
	PublishedAt time.Time
	// DeadLetteredAt is when the entry was given up, zero if it was not.
	DeadLetteredAt time.Time
	// UpdatedAt is the time of the last change.
	UpdatedAt time.Time
	// LastError is the text of the last failure, empty before the first.
	LastError string
	// ErrorType is the Go type of that failure, or what stands for it.
	ErrorType string
	// Archived says that the entry was moved out of the table.
	Archived bool
}

// row is what the store holds; the fields of Row that follow from others are not kept.
type row struct {
	outbox.Record
	state          outbox.State
	lease          relay.LeaseID
	claimedAt      time.Time
	publishedAt    time.Time
	deadLetteredAt time.Time
	updatedAt      time.Time
	lastError      string
	errorType      string
}

// view returns a copy that shares no memory with r.
func (r *row) view(leases map[relay.LeaseID]*lease) Row {
	v := Row{
		Record: clone(&r.Record), State: r.state,
		Lease: r.lease, ClaimedAt: r.claimedAt,
		PublishedAt: r.publishedAt, DeadLetteredAt: r.deadLetteredAt, UpdatedAt: r.updatedAt,
		LastError: r.lastError, ErrorType: r.errorType,
	}
	if l := leases[r.lease]; l != nil {
		v.Owner = l.owner
	}
	return v
}

// clone copies a record: neither a publisher nor a handler may share bytes with the store.
func clone(r *outbox.Record) outbox.Record {
	out := *r
	out.Payload = bytes.Clone(r.Payload)
	out.Headers = slices.Clone(r.Headers)
	out.Metadata = slices.Clone(r.Metadata)
	return out
}

// hold puts the row under a lease and counts the claim.
func (r *row) hold(id relay.LeaseID, now time.Time) {
	r.state, r.lease, r.claimedAt, r.updatedAt = outbox.Processing, id, now, now
	r.Claims++
}

// release takes the row from its lease and makes it wait until a time.
func (r *row) release(until, now time.Time) {
	r.state, r.lease, r.updatedAt = outbox.Pending, 0, now
	r.AvailableAt = until
}

// finish takes the row from its lease for good.
func (r *row) finish(state outbox.State, now time.Time) {
	r.state, r.lease, r.updatedAt = state, 0, now
	if state == outbox.Published {
		r.publishedAt = now
	} else {
		r.deadLetteredAt = now
	}
}
