package maintenance

import (
	"context"
	"time"
)

// Store is the port to the tables that need maintenance. Each call is one
// transaction, handles at most the given number of rows, skips rows that somebody
// else has locked, and judges time by the store's clock. An error is a
// *fault.Persistence and means that the call changed nothing, as far as is known.
type Store interface {
	// Reclaim takes back up to batch expired leases: the entries still held under them
	// become PENDING and due now, with no attempt charged; an entry that was claimed
	// maxClaims times in a row without any outcome is dead-lettered instead; below 1
	// there is no bound. It never looks at destination types: every node recovers every
	// node's entries.
	Reclaim(ctx context.Context, batch, maxClaims int) (Reclaimed, error)
	// Heal looks at a window of unsettled entries, goes on from where the previous call
	// ended, and repairs what no code of this version leaves behind: an entry that is
	// PROCESSING without a lease becomes PENDING, a finished one without the time that
	// marks it finished gets one.
	Heal(ctx context.Context, window int) (Healed, error)
	// DeletePublished deletes up to batch entries published longer ago than age.
	DeletePublished(ctx context.Context, age time.Duration, batch int) (deleted int, err error)
	// DeleteDeadLetters deletes up to batch entries dead-lettered longer ago than age.
	DeleteDeadLetters(ctx context.Context, age time.Duration, batch int) (deleted int, err error)
	// DeleteInbox deletes up to batch inbox markers recorded longer ago than age.
	DeleteInbox(ctx context.Context, age time.Duration, batch int) (deleted int, err error)
}

// Reclaimed is the result of [Store.Reclaim].
type Reclaimed struct {
	// Leases is the number of leases taken back; a full batch means there may be more.
	Leases int
	// Returned is the number of entries that became PENDING again.
	Returned int
	// DeadLettered is the number of entries given up because they were claimed too often.
	DeadLettered int
}

// Healed is the result of [Store.Heal].
type Healed struct {
	// Examined is the number of entries looked at; less than the window means that the
	// end was reached and the next call starts over.
	Examined int
	// Repaired is the number of entries changed.
	Repaired int
}
