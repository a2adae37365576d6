package maintenance_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core/maintenance"
)

// One run of the job that deletes old rows, as a scheduler would start it.
func ExampleCleanup() {
	store := &fakeStore{published: rows{expired: 25_000}, inbox: rows{expired: 12}}
	cleanup := maintenance.Cleanup{
		Store:  store,
		Config: maintenance.Config{DeadLetterRetention: maintenance.Forever},
	}
	report, err := cleanup.Run(context.Background())
	fmt.Println(report.Published.Deleted, report.DeadLetters.Deleted, report.Inbox.Deleted, report.Complete(), err)
	// Output: 25000 0 12 true <nil>
}

// One run of the job that takes back what crashed relays held.
func ExampleRecovery() {
	store := &fakeStore{leases: rows{expired: 3}, entriesPerLease: 50}
	report, err := maintenance.Recovery{Store: store}.Run(context.Background())
	fmt.Println(report.Reclaimed.Leases, report.Reclaimed.Returned, report.Complete, err)
	// Output: 3 150 true <nil>
}
