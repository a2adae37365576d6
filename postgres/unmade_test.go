package postgres

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgres/sqltx"
	"github.com/satchel-go/satchel/postgres/sqlxtx"
)

// TestUnmade: writers and recorders that no constructor made refuse, and do not panic.
func TestUnmade(t *testing.T) {
	t.Parallel()
	unmade[pgx.Tx](t, "pgxtx, zero", &pgxtx.Writer{}, &pgxtx.Recorder{}, (&pgxtx.Writer{}).LockAggregate(t.Context(), nil, "a"))
	unmade[pgx.Tx](t, "pgxtx, nil", (*pgxtx.Writer)(nil), (*pgxtx.Recorder)(nil), (*pgxtx.Writer)(nil).LockAggregate(t.Context(), nil, "a"))
	unmade[*sql.Tx](t, "sqltx, zero", &sqltx.Writer{}, &sqltx.Recorder{}, (&sqltx.Writer{}).LockAggregate(t.Context(), nil, "a"))
	unmade[*sql.Tx](t, "sqltx, nil", (*sqltx.Writer)(nil), (*sqltx.Recorder)(nil), (*sqltx.Writer)(nil).LockAggregate(t.Context(), nil, "a"))
	unmade[*sqlx.Tx](t, "sqlxtx, zero", &sqlxtx.Writer{}, &sqlxtx.Recorder{}, (&sqlxtx.Writer{}).LockAggregate(t.Context(), nil, "a"))
	unmade[*sqlx.Tx](t, "sqlxtx, nil", (*sqlxtx.Writer)(nil), (*sqlxtx.Recorder)(nil), (*sqlxtx.Writer)(nil).LockAggregate(t.Context(), nil, "a"))
}

func unmade[Tx any](t *testing.T, what string, w outbox.Writer[Tx], r inbox.Recorder[Tx], lock error) {
	t.Helper()
	var tx Tx
	_, insert := w.Insert(t.Context(), tx, make([]outbox.Record, 1))
	_, record := r.Record(t.Context(), tx, inbox.Message{ID: "1", Source: "s"})
	for field, errs := range map[string][]error{"outbox writer": {insert, lock}, "inbox recorder": {record}} {
		for _, err := range errs {
			var refused *fault.Invalid
			if !errors.As(err, &refused) || refused.Field != field {
				t.Errorf("%s: %v, want that the %s is refused", what, err, field)
			}
		}
	}
}

// TestConstructorsRefuse: with an error there is no value, so that nobody uses half of one.
func TestConstructorsRefuse(t *testing.T) {
	t.Parallel()
	const schema = "a.b"
	good, bad := outbox.Config{}, outbox.Config{MaxAttempts: -1}
	for name, construct := range map[string]func() (made bool, err error){
		"NewStore":           func() (bool, error) { v, err := NewStore(nil, Config{}); return v != nil, err },
		"pgxtx.NewWriter":    func() (bool, error) { v, err := pgxtx.NewWriter(pgxtx.Config{Schema: schema}); return v != nil, err },
		"pgxtx.NewRecorder":  func() (bool, error) { v, err := pgxtx.NewRecorder(pgxtx.Config{Schema: schema}); return v != nil, err },
		"pgxtx.NewProcessor": func() (bool, error) { v, err := pgxtx.NewProcessor(pgxtx.Config{Schema: schema}); return v != nil, err },
		"pgxtx.NewPublisher": func() (bool, error) {
			v, err := pgxtx.NewPublisher(pgxtx.Config{Schema: schema}, good)
			return v != nil, err
		},
		"pgxtx, attempts":    func() (bool, error) { v, err := pgxtx.NewPublisher(pgxtx.Config{}, bad); return v != nil, err },
		"sqltx.NewWriter":    func() (bool, error) { v, err := sqltx.NewWriter(sqltx.Config{Schema: schema}); return v != nil, err },
		"sqltx.NewRecorder":  func() (bool, error) { v, err := sqltx.NewRecorder(sqltx.Config{Schema: schema}); return v != nil, err },
		"sqltx.NewProcessor": func() (bool, error) { v, err := sqltx.NewProcessor(sqltx.Config{Schema: schema}); return v != nil, err },
		"sqltx.NewPublisher": func() (bool, error) {
			v, err := sqltx.NewPublisher(sqltx.Config{Schema: schema}, good)
			return v != nil, err
		},
		"sqltx, attempts":  func() (bool, error) { v, err := sqltx.NewPublisher(sqltx.Config{}, bad); return v != nil, err },
		"sqlxtx.NewWriter": func() (bool, error) { v, err := sqlxtx.NewWriter(sqlxtx.Config{Schema: schema}); return v != nil, err },
		"sqlxtx.NewRecorder": func() (bool, error) {
			v, err := sqlxtx.NewRecorder(sqlxtx.Config{Schema: schema})
			return v != nil, err
		},
		"sqlxtx.NewProcessor": func() (bool, error) {
			v, err := sqlxtx.NewProcessor(sqlxtx.Config{Schema: schema})
			return v != nil, err
		},
		"sqlxtx.NewPublisher": func() (bool, error) {
			v, err := sqlxtx.NewPublisher(sqlxtx.Config{Schema: schema}, good)
			return v != nil, err
		},
		"sqlxtx, attempts": func() (bool, error) { v, err := sqlxtx.NewPublisher(sqlxtx.Config{}, bad); return v != nil, err },
	} {
		if made, err := construct(); made || !fault.IsInvalid(err) {
			t.Errorf("%s: made %v, %v", name, made, err)
		}
	}
}
