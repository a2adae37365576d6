// Command with runs a command beside the servers that it needs.
//
//	go run ./servers/cmd/with -postgres -redis -kafka -- COMMAND ARGS...
//
// It finds or starts each server that is asked for, prints one line per server to standard error (what, which version,
// from where), and runs COMMAND with SATCHEL_DATABASE_URL, SATCHEL_REDIS_URL and SATCHEL_KAFKA_BROKERS set. When
// COMMAND ends, the servers that were started are stopped, and with ends with COMMAND's status: 128 + n when signal n
// ended it, 125 when a server could not be had or stopped, 127 when COMMAND could not be started. ("go run" itself
// makes a 1 of every status but 0.)
//
// INT, TERM, HUP and QUIT are passed on to COMMAND, and so is the end of "go run", as TERM. If with itself is killed,
// the servers end with it and COMMAND does not.
//
// Servers that the environment names already are used as they are, and left running.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Exit statuses of with itself; the usual ones of programs that run another program.
const (
	statusUsage   = 2
	statusServers = 125
	statusCommand = 127
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

// options are the parsed command line.
type options struct {
	postgres, redis, kafka bool
	ephemeral              bool
	settings               settings
	command                []string
}

// settings collects NAME=VALUE flags.
type settings map[string]string

func (s settings) String() string { return "" }

func (s settings) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return fmt.Errorf("want NAME=VALUE")
	}
	s[name] = value
	return nil
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{settings: settings{}}
	flags := flag.NewFlagSet("with", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.BoolVar(&o.postgres, "postgres", false, "a PostgreSQL server")
	flags.BoolVar(&o.redis, "redis", false, "a Redis server")
	flags.BoolVar(&o.kafka, "kafka", false, "a Kafka broker")
	flags.BoolVar(&o.ephemeral, "postgres-ephemeral", false,
		"let PostgreSQL skip fsync: quick, for tests; not for measurements")
	flags.Var(o.settings, "postgres-setting", "`NAME=VALUE`, a setting for a PostgreSQL server that is started; repeatable")
	flags.Usage = func() {
		_, _ = fmt.Fprintln(out, "usage: with [flags] -- COMMAND [ARGS...]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if o.command = flags.Args(); len(o.command) == 0 {
		flags.Usage()
		return options{}, fmt.Errorf("no command")
	}
	return o, nil
}

// run does everything that can be tested; it returns the exit status.
func run(ctx context.Context, args []string, out io.Writer) int {
	o, err := parse(args, out)
	if err != nil {
		return statusUsage
	}
	signals := listen()
	defer signals.close()

	started, err := start(ctx, o, signals, out)
	status := statusServers
	if err == nil {
		status = execute(o.command, started.environment(), signals, out)
	} else {
		_, _ = fmt.Fprintf(out, "with: %v\n", err)
	}
	if err := started.stop(ctx); err != nil {
		_, _ = fmt.Fprintf(out, "with: %v\n", err)
		return statusServers
	}
	return status
}
