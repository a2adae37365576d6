// Command satchel-migrate applies, verifies or lists the migrations of satchel's tables.
//
//	satchel-migrate [-url URL] [-schema NAME] [-baseline VERSION] [-polling] apply|verify|status
//
// The url is that of a PostgreSQL database (postgres://...), by default the value of SATCHEL_DATABASE_URL. The exit
// status is 0 when the schema is (now) as it should be, 1 when it is not or something failed, 2 for a wrong call.
// An interrupt ends the statement in progress; the next run continues.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/schema/migrator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("satchel-migrate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: satchel-migrate [flags] apply|verify|status")
		flags.PrintDefaults()
	}
	// The default is not given to the flag package, which would print it in the usage.
	url := flags.String("url", "", "database url (default: the value of SATCHEL_DATABASE_URL)")
	cfg := migrator.Config{Logger: slog.New(slog.NewTextHandler(stderr, nil))}
	flags.StringVar(&cfg.Schema, "schema", "", "schema of the tables (default: the connection's default schema)")
	flags.StringVar(&cfg.Baseline, "baseline", "", "apply: adopt tables made by another tool, as of this version")
	flags.BoolVar(&cfg.AllowDisabledNotify, "polling", false, "verify: accept a disabled notification trigger")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *url == "" {
		*url = getenv("SATCHEL_DATABASE_URL")
	}
	action, known := actions[flags.Arg(0)]
	if !known || flags.NArg() != 1 || *url == "" {
		flags.Usage()
		return 2
	}
	options, err := pgx.ParseConfig(*url)
	if err != nil {
		fmt.Fprintln(stderr, "satchel-migrate: the database url cannot be parsed") // the reason might quote a password
		return 2
	}
	db := stdlib.OpenDB(*options)
	err = errors.Join(action(ctx, db, cfg, stdout), db.Close())
	if err != nil {
		fmt.Fprintln(stderr, "satchel-migrate:", err)
		return 1
	}
	return 0
}

var actions = map[string]func(context.Context, *sql.DB, migrator.Config, io.Writer) error{
	"apply": func(ctx context.Context, db *sql.DB, cfg migrator.Config, _ io.Writer) error {
		return migrator.Apply(ctx, db, cfg)
	},
	"verify": func(ctx context.Context, db *sql.DB, cfg migrator.Config, stdout io.Writer) error {
		if err := migrator.Verify(ctx, db, cfg); err != nil {
			return err
		}
		_, err := fmt.Fprintln(stdout, "ok")
		return err
	},
	"status": func(ctx context.Context, db *sql.DB, cfg migrator.Config, stdout io.Writer) error {
		steps, err := migrator.Status(ctx, db, cfg)
		if err != nil {
			return err
		}
		for _, step := range steps {
			if _, err := fmt.Fprintf(stdout, "%-8s %s\n", state(step), step.File); err != nil {
				return err
			}
		}
		return nil
	},
}

func state(step migrator.Step) string {
	switch {
	case step.Adopted:
		return "adopted"
	case step.Done():
		return "applied"
	case step.LastError != "":
		return "failed"
	}
	return "pending"
}
