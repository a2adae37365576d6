package postgres

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/internal/authoring"
	"github.com/satchel-go/satchel/postgres/internal/reading"
	"github.com/satchel-go/satchel/postgres/internal/stmt"
)

var update = flag.Bool("update", false, "write the plans of this server's version to testdata")

// planned is a statement with the parameters of a typical call.
type planned struct {
	name, sql string
	args      []any
	// indexes have to be in the plan.
	indexes []string
	// bare says that the statement runs without the settings of the store's own.
	bare bool
}

func plannedStatements(t *testing.T) []planned {
	t.Helper()
	set, err := stmt.Load("")
	if err != nil {
		t.Fatal(err)
	}
	req := request(50)
	at := reading.Point{Due: time.Now().Add(-time.Hour).UnixMicro(), ID: 1}
	scans := []reading.Scan{
		{Type: "ALPHA", From: at, To: reading.End, Window: 50},
		{Type: "ALPHA", To: at, Lag: time.Second, Window: 2000},
		{Type: "ALPHA", From: reading.Start, To: at, Window: 4000},
	}
	claimed := append(claimArgs(scans, req.Scope.Without("ALPHA", "d3")), []string{"a1", "a2", "a3"}, 50, 20, "owner", int64(30_000_000), (*int64)(nil))
	ids, leases := []int64{18, 1008, 2008}, []int64{1, 2, 3}
	other := []any{ids, leases, []int32{2, 3, 5}, []int64{0, 0, 0}, []string{"e", "e", "e"}, []string{"t", "t", "t"}}
	day := (24 * time.Hour).Microseconds()
	record := outbox.Record{EventType: "e", Destination: "d", DestinationType: "ALPHA", Payload: []byte("1"), MaxAttempts: 20}
	return []planned{
		{name: "claim", sql: set.Claim, args: claimed, indexes: []string{"idx_outbox_claim", "idx_outbox_aggregate", "Tid Scan"}},
		{name: "settle_keep", sql: set.SettleKeep, args: []any{ids, leases}, indexes: []string{"outbox_pkey"}},
		{name: "settle_delete", sql: set.SettleDelete, args: []any{ids, leases}, indexes: []string{"outbox_pkey"}},
		{name: "settle_archive", sql: set.SettleArchive, args: []any{ids, leases}, indexes: []string{"outbox_pkey"}},
		{name: "settle_other", sql: set.SettleOther, args: other, indexes: []string{"outbox_pkey"}},
		{name: "successors", sql: set.Successors, args: []any{[]string{"a1", "a2", "a3"}}, indexes: []string{"idx_outbox_aggregate"}},
		{name: "reclaim", sql: set.Reclaim, args: []any{20, 100}, indexes: []string{"outbox_pkey"}},
		{name: "strays", sql: set.Strays, args: []any{int64(1)}, indexes: []string{"outbox_lease_pkey", "outbox_pkey"}},
		{name: "bump", sql: set.Bump, args: []any{[]string{"a1", "a2"}}, indexes: []string{"idx_outbox_aggregate", "outbox_pkey"}},
		{name: "heal", sql: set.Heal, args: []any{"ALPHA", at.Timestamp(), at.ID, 1000}, indexes: []string{"idx_outbox_claim", "outbox_pkey"}},
		{name: "delete_published", sql: set.DeletePublished, args: []any{7 * day, 1000}, indexes: []string{"idx_outbox_published", "outbox_pkey"}},
		{name: "delete_dead_letters", sql: set.DeleteDeadLetters, args: []any{30 * day, 1000}, indexes: []string{"idx_outbox_dead_letter", "outbox_pkey"}},
		{name: "delete_inbox", sql: set.DeleteInbox, args: []any{30 * day, 1000}, indexes: []string{"idx_inbox_processed_at", "Tid Scan"}},
		{name: "next_due", sql: set.NextDue, args: []any{[]string{"ALPHA", "BETA"}}, indexes: []string{"idx_outbox_claim"}},
		{name: "insert", sql: set.Insert, args: authoring.Many([]outbox.Record{record, record}), bare: true},
		{name: "insert_one", sql: set.InsertOne, args: authoring.One(&record), bare: true},
		{name: "inbox_record", sql: set.InboxRecord, args: []any{"m", "s"}, bare: true},
	}
}

// TestPlans looks at the plan of every statement that meets the large tables, as the
// store runs it: with its settings where it sets them, with generic plans and with plans
// for the given parameters, with good statistics and with those of an empty table.
func TestPlans(t *testing.T) {
	t.Parallel()
	entries := 1_000_000
	if testing.Short() {
		entries = 200_000
	}
	for _, c := range []struct {
		name     string
		entries  int
		analysed bool
	}{{"analysed", entries, true}, {"statistics of an empty table", 100_000, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := bigDatabase(t, c.entries, c.analysed)
			for _, p := range plannedStatements(t) {
				for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
					plan := explain(t, conn, p, mode)
					for _, problem := range judge(p, plan) {
						t.Errorf("%s, %s: %s\n%s", p.name, mode, problem, plan)
					}
					if c.analysed && !testing.Short() {
						golden(t, conn, p.name+"."+strings.TrimSuffix(strings.TrimPrefix(mode, "force_"), "_plan"), plan)
					}
				}
			}
			if c.analysed {
				testPages(t, conn)
			}
		})
	}
}

// explain returns the normalised plan of a statement.
func explain(t *testing.T, conn *pgx.Conn, p planned, mode string) string {
	t.Helper()
	ctx := testContext(t)
	var plan string
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		plan, err = explainIn(ctx, tx, p, mode, "COSTS OFF")
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return normalise(plan)
}

func explainIn(ctx context.Context, tx pgx.Tx, p planned, mode, options string) (string, error) {
	set, err := stmt.Load("")
	if err != nil {
		return "", err
	}
	if !p.bare {
		if _, err := tx.Exec(ctx, set.Settings); err != nil {
			return "", err
		}
	}
	if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = "+mode); err != nil {
		return "", err
	}
	if _, err := tx.Exec(ctx, "PREPARE planned AS "+p.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		return "", err
	}
	params := make([]string, len(p.args))
	for i := range params {
		params[i] = fmt.Sprintf("$%d", i+1)
	}
	args := append([]any{pgx.QueryExecModeSimpleProtocol}, p.args...)
	rows, err := tx.Query(ctx, "EXPLAIN ("+options+") EXECUTE planned("+strings.Join(params, ", ")+")", args...)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, "DEALLOCATE planned")
	return strings.Join(lines, "\n") + "\n", err
}

var literal = regexp.MustCompile(`'(?:[^']|'')*'`)

// normalise takes out what differs from run to run: literals, among them times.
func normalise(plan string) string { return literal.ReplaceAllString(plan, "'?'") }

var wholeTable = regexp.MustCompile(`Seq Scan on (outbox|inbox)( |\n)`)

// judge says what is wrong with a plan.
func judge(p planned, plan string) (problems []string) {
	if found := wholeTable.FindString(plan); found != "" {
		problems = append(problems, "has a "+strings.TrimSpace(found))
	}
	for _, index := range p.indexes {
		if !strings.Contains(plan, index) {
			problems = append(problems, "does not use "+index)
		}
	}
	if strings.Contains(plan, "JIT:") {
		problems = append(problems, "is compiled")
	}
	return problems
}

// golden compares a plan with the one that was accepted for this version of the server.
func golden(t *testing.T, conn *pgx.Conn, name, plan string) {
	t.Helper()
	var major int
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000").Scan(&major); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "plans", fmt.Sprint("pg", major), name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Logf("no plan of %s was accepted for version %d", name, major)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != plan {
		t.Errorf("the plan of %s is not the accepted one; if it is as good, accept it with -update:\n%s", name, plan)
	}
}
