package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/lib/pq" // the driver of openPq

	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// features of the store; wake-ups are tested with the listener.
var features = storetest.Features{Runs: true, Archive: true, TxDelivery: true, Registry: true}

// TestConformance runs the whole suite in the query modes that differ most: prepared
// statements, unprepared ones with binary and with text parameters.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema string
		mode         pgx.QueryExecMode
	}{
		{"cached, mapped schema", pgtest.Mapped, pgx.QueryExecModeCacheStatement},
		{"exec, default schema", "", pgx.QueryExecModeExec},
		{"simple protocol, mapped schema", pgtest.Mapped, pgx.QueryExecModeSimpleProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, storetest.Harness{Features: features, New: func(t *testing.T) storetest.Fixture {
				return fixture(t, place(t, c.schema, pgtest.Mode(c.mode)), pgxWriter)
			}})
		})
	}
}

// TestConformanceOfModes runs the topics that send and read values of every kind in
// the remaining query modes.
func TestConformanceOfModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema string
		mode         pgx.QueryExecMode
	}{
		{"cached descriptions", "", pgx.QueryExecModeCacheDescribe},
		{"described each time", pgtest.Mapped, pgx.QueryExecModeDescribeExec},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			topics(t, []string{"Publish", "Fidelity", "Inbox", "Scope", "Outcomes", "OnPublished", "Reclaim"}, func(t *testing.T) storetest.Fixture {
				return fixture(t, place(t, c.schema, pgtest.Mode(c.mode)), pgxWriter)
			})
		})
	}
}

// TestConformanceOfWriters runs the topics in which an application's transaction does
// something, for every library that such a transaction can belong to.
func TestConformanceOfWriters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema string
		write        writer
	}{
		{"sql over pgx, default schema", "", sqlWriter(openPgx)},
		{"sql over pq, mapped schema", pgtest.Mapped, sqlWriter(openPq(""))},
		{"sql over pq, binary parameters", "", sqlWriter(openPq("binary_parameters=yes"))},
		{"sqlx over pgx, mapped schema", pgtest.Mapped, sqlxWriter(openPgx)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			topics(t, []string{"Publish", "Fidelity", "Inbox", "InboxRaces"}, func(t *testing.T) storetest.Fixture {
				return fixture(t, place(t, c.schema), c.write)
			})
		})
	}
}

// topics runs a part of the suite: what the case has in common with others is left to them.
func topics(t *testing.T, list []string, open func(t *testing.T) storetest.Fixture) {
	t.Helper()
	storetest.Run(t, storetest.Harness{Features: features, Topics: list, New: open})
}
