package lab

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Load empties the outbox and runs fill with its indexes and triggers out of the way:
// a million rows then take seconds. Afterwards everything is as it was, and the table is
// vacuumed and analysed.
func Load(ctx context.Context, conn *pgx.Conn, fill func(ctx context.Context) error) error {
	drops, creates, err := indexes(ctx, conn)
	if err != nil {
		return err
	}
	before := append([]string{"TRUNCATE outbox RESTART IDENTITY", "ALTER TABLE outbox DISABLE TRIGGER USER"}, drops...)
	if err := run(ctx, conn, before...); err != nil {
		return err
	}
	if err := fill(ctx); err != nil {
		return err
	}
	after := append([]string{"SET maintenance_work_mem = '256MB'"}, creates...)
	return run(ctx, conn, append(after, "ALTER TABLE outbox ENABLE TRIGGER USER", "VACUUM ANALYZE outbox")...)
}

// indexes returns the statements that drop and create the indexes of the outbox.
func indexes(ctx context.Context, conn *pgx.Conn) (drops, creates []string, err error) {
	rows, err := conn.Query(ctx, `
		SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %I', i.indexrelid::regclass)
		            ELSE format('ALTER TABLE outbox DROP CONSTRAINT %I', c.conname) END,
		       CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
		            ELSE format('ALTER TABLE outbox ADD CONSTRAINT %I %s', c.conname, pg_get_constraintdef(c.oid)) END
		  FROM pg_index i
		  LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
		 WHERE i.indrelid = 'outbox'::regclass
		 ORDER BY i.indexrelid`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var drop, create string
		if err := rows.Scan(&drop, &create); err != nil {
			return nil, nil, err
		}
		drops, creates = append(drops, drop), append(creates, create)
	}
	return drops, creates, rows.Err()
}

func run(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
