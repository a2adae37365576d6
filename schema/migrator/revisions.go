package migrator

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"ariga.io/atlas/sql/migrate"
)

// RevisionsTable is the name of the table in which Apply records what it did. It lies in the schema of the tables.
const RevisionsTable = "satchel_revisions"

const createRevisions = `CREATE TABLE satchel_revisions (
	version          varchar(255) PRIMARY KEY,
	description      text         NOT NULL,
	type             bigint       NOT NULL,
	applied          bigint       NOT NULL,
	total            bigint       NOT NULL,
	executed_at      timestamptz  NOT NULL,
	error            text         NOT NULL,
	error_stmt       text         NOT NULL,
	hash             text         NOT NULL,
	partial_hashes   jsonb        NOT NULL,
	operator_version text         NOT NULL
)`

const selectRevisions = `SELECT version, description, type, applied, total, executed_at, error,
	error_stmt, hash, partial_hashes::text, operator_version FROM satchel_revisions`

const upsertRevision = `INSERT INTO satchel_revisions VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11)
	ON CONFLICT (version) DO UPDATE SET description = excluded.description, type = excluded.type,
	applied = excluded.applied, total = excluded.total, executed_at = excluded.executed_at,
	error = excluded.error, error_stmt = excluded.error_stmt,
	hash = excluded.hash, partial_hashes = excluded.partial_hashes, operator_version = excluded.operator_version`

// ensureRevisions creates the table if it is missing. It asks first, because CREATE TABLE IF NOT EXISTS needs the right to
// create even if the table is there, and an Apply that has nothing to do should get by with reading.
func ensureRevisions(ctx context.Context, q querier) error {
	var exists bool
	if err := q.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, RevisionsTable).Scan(&exists); err != nil {
		return fmt.Errorf("migrator: looking for the table of revisions: %w", err)
	}
	if exists {
		return nil
	}
	if _, err := q.ExecContext(ctx, createRevisions); err != nil {
		return fmt.Errorf("migrator: creating the table of revisions: %w", err)
	}
	return nil
}

// revisions stores what Atlas wants to remember about each migration.
type revisions struct{ q querier }

var _ migrate.RevisionReadWriter = revisions{}

// Ident names the table, so that Atlas does not count it among the user's tables.
func (revisions) Ident() *migrate.TableIdent { return &migrate.TableIdent{Name: RevisionsTable} }

// ReadRevisions returns all revisions by version, as the executor expects them.
func (r revisions) ReadRevisions(ctx context.Context) (_ []*migrate.Revision, err error) {
	rows, err := r.q.QueryContext(ctx, selectRevisions+` ORDER BY version COLLATE "C"`)
	if err != nil {
		return nil, fmt.Errorf("reading revisions: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []*migrate.Revision
	for rows.Next() {
		rev, err := scanRevision(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, rev)
	}
	return all, rows.Err()
}

// ReadRevision returns one revision, or migrate.ErrRevisionNotExist.
func (r revisions) ReadRevision(ctx context.Context, version string) (*migrate.Revision, error) {
	rev, err := scanRevision(r.q.QueryRowContext(ctx, selectRevisions+` WHERE version = $1`, version))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, migrate.ErrRevisionNotExist
	}
	return rev, err
}

// WriteRevision inserts or replaces a revision.
func (r revisions) WriteRevision(ctx context.Context, rev *migrate.Revision) error {
	hashes, err := json.Marshal(rev.PartialHashes)
	if err != nil {
		return fmt.Errorf("encoding a revision: %w", err)
	}
	if _, err := r.q.ExecContext(ctx, upsertRevision, rev.Version, rev.Description, int64(rev.Type), rev.Applied,
		rev.Total, rev.ExecutedAt, rev.Error, rev.ErrorStmt, rev.Hash, string(hashes),
		rev.OperatorVersion); err != nil {
		return fmt.Errorf("writing a revision: %w", err)
	}
	return nil
}

// DeleteRevision removes a revision.
func (r revisions) DeleteRevision(ctx context.Context, version string) error {
	if _, err := r.q.ExecContext(ctx, `DELETE FROM satchel_revisions WHERE version = $1`, version); err != nil {
		return fmt.Errorf("deleting a revision: %w", err)
	}
	return nil
}

func scanRevision(row interface{ Scan(...any) error }) (*migrate.Revision, error) {
	var (
		rev    migrate.Revision
		kind   int64
		hashes string
	)
	if err := row.Scan(&rev.Version, &rev.Description, &kind, &rev.Applied, &rev.Total, &rev.ExecutedAt,
		&rev.Error, &rev.ErrorStmt, &rev.Hash, &hashes, &rev.OperatorVersion); err != nil {
		return nil, fmt.Errorf("reading a revision: %w", err)
	}
	rev.Type = migrate.RevisionType(kind)
	if err := json.Unmarshal([]byte(hashes), &rev.PartialHashes); err != nil {
		return nil, fmt.Errorf("decoding a revision: %w", err)
	}
	return &rev, nil
}

// pendingRevisions holds a revision back until its transaction succeeds: a failed transaction accepts no further
// statement, not even the note that it failed, and all its work is gone with it.
type pendingRevisions struct {
	revisions
	last *migrate.Revision
}

// WriteRevision remembers the newest state of the revision.
func (p *pendingRevisions) WriteRevision(_ context.Context, rev *migrate.Revision) error {
	p.last = rev
	return nil
}

// flush writes what was remembered.
func (p *pendingRevisions) flush(ctx context.Context) error {
	if p.last == nil {
		return nil
	}
	return p.revisions.WriteRevision(ctx, p.last)
}
