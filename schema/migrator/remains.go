package migrator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ariga.io/atlas/sql/migrate"
)

// invalidIndexes lists the INVALID indexes of the current schema, without those that a session is building right now.
const invalidIndexes = `SELECT c.relname
	FROM pg_catalog.pg_index i
	JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE NOT (i.indisvalid AND i.indisready) AND n.nspname = current_schema()
	AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)
	ORDER BY c.relname`

// dropRemains removes the INVALID index that an earlier, interrupted run of this file has left. The file itself cannot:
// it says IF NOT EXISTS, and an INVALID index exists.
func (r *runner) dropRemains(ctx context.Context, file migrate.File) error {
	names, err := readNames(ctx, r.conn, invalidIndexes)
	if err != nil {
		return fmt.Errorf("looking for invalid indexes: %w", err)
	}
	for _, name := range names {
		if !strings.Contains(string(file.Bytes()), "CREATE INDEX CONCURRENTLY IF NOT EXISTS "+name+" ") {
			continue
		}
		r.cfg.Logger.WarnContext(ctx, "dropping what an interrupted index build left", "index", name)
		if _, err := r.conn.ExecContext(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+quoteName(name)); err != nil {
			return fmt.Errorf("dropping an invalid index: %w", err)
		}
	}
	return nil
}

// readNames returns the single text column of a query.
func readNames(ctx context.Context, q querier, query string) (names []string, err error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
