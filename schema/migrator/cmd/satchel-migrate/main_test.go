package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// command runs satchel-migrate in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, os.Getenv, &out, &errs)
	return code, out.String(), errs.String()
}

// schemaName returns a schema that no other test uses, and removes it at the end.
func schemaName(t *testing.T) string {
	t.Helper()
	if os.Getenv("SATCHEL_DATABASE_URL") == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run the tests by make test, which starts a server")
	}
	name := fmt.Sprintf("satchel_migrate_%d_%s", os.Getpid(), strings.ToLower(t.Name()))
	t.Cleanup(func() {
		db, err := sql.Open("pgx", os.Getenv("SATCHEL_DATABASE_URL"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(context.Background(), `DROP SCHEMA IF EXISTS `+name+` CASCADE`); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestApplyVerifyStatus(t *testing.T) {
	t.Parallel()
	name := schemaName(t)
	if code, _, stderr := command(t, "-schema", name, "verify"); code != 1 || !strings.Contains(stderr, "table outbox is missing") {
		t.Errorf("verify before: %d %s", code, stderr)
	}
	if code, stdout, _ := command(t, "-schema", name, "status"); code != 0 || strings.Contains("\n"+stdout, "\napplied") || strings.Count(stdout, "pending ") < 17 {
		t.Errorf("status before: %d %s", code, stdout)
	}
	if code, _, stderr := command(t, "-schema", name, "apply"); code != 0 {
		t.Fatalf("apply: %d %s", code, stderr)
	}
	if code, stdout, stderr := command(t, "-schema", name, "verify"); code != 0 || stdout != "ok\n" {
		t.Errorf("verify after: %d %s%s", code, stdout, stderr)
	}
	code, stdout, _ := command(t, "-schema", name, "status")
	if code != 0 || strings.Contains("\n"+stdout, "\npending") || !strings.HasPrefix(stdout, "applied  20260101000001_create_inbox_outbox.sql\n") {
		t.Errorf("status after: %d %s", code, stdout)
	}
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	for _, args := range [][]string{
		{},
		{"drop"},
		{"apply", "verify"},
		{"-nonsense", "apply"},
		{"-url", "postgres://u:" + secret + "@host:port/db", "apply"},
		{"-url", "postgres://u:" + secret + "@%zz/", "status"},
	} {
		if code, _, stderr := command(t, args...); code != 2 || strings.Contains(stderr, secret) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	if code, _, stderr := command(t, "-schema", "a.b", "apply"); code != 1 || !strings.Contains(stderr, "schema name") {
		t.Errorf("bad schema: %d %s", code, stderr)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"apply"}, func(string) string { return "" }, &out, &errs); code != 2 {
		t.Errorf("no url: %d", code)
	}
	if code, _, stderr := command(t, "-h"); code != 0 || !strings.Contains(stderr, "usage: satchel-migrate") || strings.Contains(stderr, "postgres://") {
		t.Errorf("help: %d %s", code, stderr)
	}
}
