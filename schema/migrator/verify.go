package migrator

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Difference is one object that is not as the migrations make it.
type Difference struct {
	Kind string // table, column, constraint, index, trigger or function
	Name string // of a column, constraint or trigger: table.name; of a function: with its argument types
	Want string // its definition after the last migration; empty for an INVALID index that is not one of ours
	Have string // its definition in the database; empty when it is missing
}

// String says what is wrong with the object.
func (d Difference) String() string {
	switch {
	case d.Have == "":
		return fmt.Sprintf("%s %s is missing", d.Kind, d.Name)
	case d.Have == d.Want+invalid || d.Want == "":
		return fmt.Sprintf("%s %s is INVALID", d.Kind, d.Name)
	case d.Have == d.Want+disabled:
		return fmt.Sprintf("%s %s is disabled", d.Kind, d.Name)
	}
	return fmt.Sprintf("%s %s is %q, want %q", d.Kind, d.Name, d.Have, d.Want)
}

// DriftError reports that a schema is not what this version of satchel needs.
type DriftError struct {
	Pending     []string     // migrations that were not or not fully applied, in order
	Differences []Difference // sorted by kind and name
}

// Error lists everything that was found.
func (e *DriftError) Error() string {
	var found []string
	if len(e.Pending) > 0 {
		found = append(found, "pending migrations: "+strings.Join(e.Pending, ", "))
	}
	for _, d := range e.Differences {
		found = append(found, d.String())
	}
	return "migrator: schema differs: " + strings.Join(found, "; ")
}

// notifyTrigger is the one that a deployment can do without.
const notifyTrigger = "outbox.transactional_outbox_notify"

// Suffixes that the catalogue query adds to definitions.
const (
	invalid  = " INVALID"
	disabled = " DISABLED"
)

// Verify returns nil when the schema has all that the newest migration leads to, and a [*DriftError] that lists what
// it lacks otherwise. It reads the catalogue in one read-only transaction, takes no lock that could disturb anybody,
// and needs no more rights than USAGE on the schema.
//
// What is there in addition is accepted, except an INVALID index on one of the tables. Migrations count as pending only
// where the table satchel_revisions exists: tables that another tool maintains are judged by their form alone.
// Like Apply it reports [ErrNewerDatabase]; a role that may not read satchel_revisions skips that check and the pending ones.
func Verify(ctx context.Context, db *sql.DB, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	drift := &DriftError{}
	err = reading(ctx, db, cfg, func(tx *sql.Tx) error {
		steps, err := readSteps(ctx, tx)
		if err != nil && !errors.Is(err, errNoRevisions) {
			return err
		}
		for _, step := range steps {
			if !step.Done() {
				drift.Pending = append(drift.Pending, step.File)
			}
		}
		want := expected()
		have, err := readCatalogue(ctx, tx, want.names("table"), functionNames(want.names("function")))
		if err != nil {
			return err
		}
		drift.Differences = compare(want, have, cfg.AllowDisabledNotify)
		return nil
	})
	if err != nil {
		return err
	}
	if len(drift.Pending) > 0 || len(drift.Differences) > 0 {
		return drift
	}
	return nil
}

// compare lists what have lacks of want, and INVALID indexes that it has besides.
func compare(want, have catalogue, allowDisabledNotify bool) []Difference {
	var found []Difference
	for o, definition := range want {
		actual := have[o]
		if o.kind == "trigger" && o.name == notifyTrigger && allowDisabledNotify {
			actual = strings.TrimSuffix(actual, disabled)
		}
		if actual != definition {
			found = append(found, Difference{Kind: o.kind, Name: o.name, Want: definition, Have: actual})
		}
	}
	for o, actual := range have {
		if _, known := want[o]; !known && o.kind == "index" && strings.HasSuffix(actual, invalid) {
			found = append(found, Difference{Kind: o.kind, Name: o.name, Have: actual})
		}
	}
	slices.SortFunc(found, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// reading runs fn in a read-only transaction that sees the target schema only. Nothing of it outlives the transaction,
// so any pooled connection will do.
func reading(ctx context.Context, db *sql.DB, cfg Config, fn func(tx *sql.Tx) error) error {
	return inSchema(ctx, db, cfg, &sql.TxOptions{ReadOnly: true}, fn)
}

// inSchema runs fn in a transaction that sees the target schema only, and commits it.
func inSchema(ctx context.Context, db *sql.DB, cfg Config, opts *sql.TxOptions, fn func(tx *sql.Tx) error) (err error) {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("migrator: beginning: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
	}()
	name, err := targetSchema(ctx, tx, cfg)
	if err != nil {
		return err
	}
	if err := useSchema(ctx, tx, name, true); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrator: committing: %w", err)
	}
	return nil
}
