package migrator_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/schema/migrator"
)

// A service applies the migrations at start; one that may not change tables verifies them instead.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("SATCHEL_DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	cfg := migrator.Config{Schema: fmt.Sprintf("satchel_example_%d", os.Getpid())}
	defer db.ExecContext(ctx, `DROP SCHEMA IF EXISTS `+cfg.Schema+` CASCADE`)

	var drift *migrator.DriftError
	if errors.As(migrator.Verify(ctx, db, cfg), &drift) {
		fmt.Println("before:", drift.Differences[0])
	}
	if err := migrator.Apply(ctx, db, cfg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("after: ", migrator.Verify(ctx, db, cfg))
	// Output:
	// before: column inbox.message_id is missing
	// after:  <nil>
}
