package scheduler_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

// store needs no server as long as no job is due.
func store() *postgres.Store {
	pool, err := pgxpool.New(context.Background(), "postgres://app@db.example/app")
	if err != nil {
		panic(err)
	}
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		panic(err)
	}
	return store
}

// The cleanup runs at half past three UTC on one of the nodes; delivered
// entries are archived for 90 days.
func ExampleNew() {
	s, err := scheduler.New(store(), scheduler.Config{
		Cleanup:          "CRON_TZ=UTC 0 30 3 * * *",
		Maintenance:      maintenance.Config{PublishedRetention: 90 * maintenance.Day},
		ArchiveDaysAhead: 7,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	stop() // as a service does when it ends
	fmt.Println("ended:", s.Run(ctx))
	// Output: ended: <nil>
}

// All problems are reported at once. A schedule has six fields, the first one for seconds, and
// must come due at some time.
func ExampleNew_refused() {
	_, err := scheduler.New(store(), scheduler.Config{
		Cleanup:          "0 0 0 30 2 *", // the 30th of February
		ArchiveDaysAhead: 400,
	})
	fmt.Println(err)
	// Output:
	// satchel: scheduler archiveDaysAhead is not between 0 and 366
	// satchel: cron.jobs.outbox-cleanup.cron never comes due
}
