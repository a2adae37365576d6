package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func newProcess(dsn string, out io.Writer) *process {
	return &process{dsn: dsn, stdin: strings.NewReader(""), stdout: out, logger: slog.New(slog.DiscardHandler)}
}

// The whole play with real processes, small, over every destination.
func TestDemo(t *testing.T) {
	for _, c := range []struct{ dest, orders, nodes, killed, dropped, end string }{
		{"service", "300", "2", "node-2 killed", "suppressed by inbox", "exactly once and in order"},
		{"service", "100", "1", "node-1 killed", "suppressed by inbox", "exactly once and in order"},
		{"http", "300", "2", "node-2 killed", "suppressed by inbox", "exactly once and in order"},
		{"kafka", "300", "2", "node-2 killed", "suppressed by inbox", "exactly once and in order"},
		{"kafka", "100", "1", "node-1 killed", "suppressed by inbox", "exactly once and in order"},
		{"jobs", "300", "2", "node-2 killed", "suppressed by redis", "exactly once\n"},
		{"jobs", "100", "3", "node-2 killed", "suppressed by redis", "exactly once\n"},
	} {
		t.Run(c.dest+" on "+c.nodes, func(t *testing.T) {
			var out bytes.Buffer
			arguments := []string{"demo", "-dest", c.dest, "-orders", c.orders, "-nodes", c.nodes}
			if err := newProcess(server(t), &out).run(t.Context(), arguments); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, want := range []string{c.killed, c.dropped, c.end} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestDemoRefusesSettingsOutOfBounds(t *testing.T) {
	t.Setenv("ORDERS", "99")
	t.Setenv("NODES", "9")
	t.Setenv("DEST", "pigeon")
	for _, arguments := range [][]string{{"demo"}, {"demo", "-orders", "x", "-nodes", "0", "-dest", "Kafka"}} {
		err := newProcess("postgres://nowhere", io.Discard).run(t.Context(), arguments)
		for _, name := range []string{"ORDERS", "NODES", "DEST"} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%q: want %s named, got %v", arguments, name, err)
			}
		}
	}
}

func TestDestinationWithoutItsServer(t *testing.T) {
	for dest, variable := range map[string]string{"kafka": brokersVariable, "jobs": redisVariable} {
		t.Setenv(variable, "")
		for _, command := range []string{"demo", "shop", "relay", "consumer"} {
			err := newProcess("postgres://nowhere", io.Discard).run(t.Context(), []string{command, "-dest", dest})
			if err == nil || !strings.Contains(err.Error(), variable) || !strings.Contains(err.Error(), "DEST="+dest) {
				t.Errorf("%s: want %s and what to run, got %v", command, variable, err)
			}
		}
	}
	t.Setenv(redisVariable, "redis://u:secret@:x:y")
	if _, err := openJobs("run"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL that cannot be read: %v", err)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{nil, {"dance"}, {"report", "more"}} {
		if err := newProcess("postgres://nowhere", io.Discard).run(t.Context(), arguments); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v", arguments, err)
		}
	}
	if err := newProcess("", io.Discard).run(t.Context(), []string{"report"}); err == nil || !strings.Contains(err.Error(), urlVariable) {
		t.Errorf("without a database: got %v", err)
	}
}

func TestProcessEndsWithItsParent(t *testing.T) {
	t.Parallel()
	stdin, parent := io.Pipe()
	ctx, cancel := whileParentLives(t.Context(), stdin)
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal("ended while the parent lives")
	}
	_ = parent.Close()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("went on after the parent's end")
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Fatal(ctx.Err())
	}
}
