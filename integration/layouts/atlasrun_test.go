package layouts

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
)

// memory keeps the revisions of one test; the command line of Atlas keeps them in a table.
type memory map[string]*migrate.Revision

func (memory) Ident() *migrate.TableIdent { return &migrate.TableIdent{Name: "none"} }

func (m memory) ReadRevisions(context.Context) (all []*migrate.Revision, err error) {
	for _, revision := range m {
		all = append(all, revision)
	}
	slices.SortFunc(all, func(a, b *migrate.Revision) int { return strings.Compare(a.Version, b.Version) })
	return all, nil
}

func (m memory) ReadRevision(_ context.Context, version string) (*migrate.Revision, error) {
	if revision, ok := m[version]; ok {
		return revision, nil
	}
	return nil, migrate.ErrRevisionNotExist
}

func (m memory) WriteRevision(_ context.Context, revision *migrate.Revision) error {
	m[revision.Version] = revision
	return nil
}

func (m memory) DeleteRevision(_ context.Context, version string) error {
	delete(m, version)
	return nil
}

// atlasApply applies a folder as `atlas migrate apply --allow-dirty` does: each file in a transaction unless it asks for none.
func atlasApply(t *testing.T, db *sql.DB, folder string, done memory, opts ...migrate.ExecutorOption) error {
	t.Helper()
	dir, err := migrate.NewLocalDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	executor := func(q interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	},
	) *migrate.Executor {
		driver, err := postgres.Open(q)
		if err != nil {
			t.Fatal(err)
		}
		e, err := migrate.NewExecutor(driver, dir, done, append(opts, migrate.WithAllowDirty(true))...)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	files, err := executor(db).Pending(testContext(t))
	if errors.Is(err, migrate.ErrNoPendingFiles) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if slices.Contains(file.(*migrate.LocalFile).Directive("txmode"), "none") {
			if err := executor(db).Execute(testContext(t), file); err != nil {
				return err
			}
			continue
		}
		tx, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			return err
		}
		if err := executor(tx).Execute(testContext(t), file); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// rehash writes the hash file of a folder, as `atlas migrate hash` does.
func rehash(t *testing.T, folder string) {
	t.Helper()
	dir, err := migrate.NewLocalDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := dir.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.WriteSumFile(dir, sum); err != nil {
		t.Fatal(err)
	}
}
