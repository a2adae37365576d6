package migrations

import (
	"context"
	"database/sql"

	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"
)

func withMigrator(ctx context.Context, db *sql.DB) error {
	// block 1
}

func withGoose(db *sql.DB, locker lock.SessionLocker) (*goose.Provider, error) {
	// block 2
	return provider, err
}

func withGolangMigrate() (source.Driver, error) {
	// block 3
	return source, err
}
