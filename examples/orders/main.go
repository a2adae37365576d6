// Command orders shows what satchel promises while processes die.
//
//	orders demo       runs everything below as processes of their own, and judges
//	orders shop       takes orders: business rows and outbox entries in one transaction
//	orders relay      a node that delivers the destinations it hosts
//	orders consumer   applies each message once, by means of the inbox
//	orders report     reads the tables and says whether they reconcile
//
// The demo takes a PostgreSQL server from SATCHEL_DATABASE_URL, makes a database of its
// own there, and removes it at the end. Flags or the variables ORDERS (20,000), NODES (2)
// and DEST (service) say how many orders and relay nodes, and what carries the events:
//
//	service   functions inside the nodes, which post to the consumer
//	http      signed webhooks
//	kafka     topics of the cluster that SATCHEL_KAFKA_BROKERS names
//	jobs      asynq jobs in the Redis that SATCHEL_REDIS_URL names
//
// Half-way it kills a node with SIGKILL at the worst moment: deliveries are made and not
// yet settled. They are therefore made again, and dropped where they are recognised: by
// the consumer's inbox, or by Redis. The exit status is 0 only if every line of the final
// reconciliation is right.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// urlVariable names the database to work in; for the demo, the server.
const urlVariable = "SATCHEL_DATABASE_URL"

// errUsage says that the command line was not understood; the usage has been printed.
var errUsage = errors.New("usage: orders demo | shop | relay | consumer | report")

// process is what the subcommands share.
type process struct {
	arguments []string
	dest      string // as given, see kindOf
	dsn       string
	stdin     io.Reader
	stdout    io.Writer
	logger    *slog.Logger
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &process{
		dsn: os.Getenv(urlVariable), stdin: os.Stdin, stdout: os.Stdout,
		logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	err := p.run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

// run executes the subcommand that the arguments name.
func (p *process) run(ctx context.Context, arguments []string) error {
	commands := map[string]func(context.Context) error{
		"demo": p.demo, "shop": p.shop, "relay": p.relay, "consumer": p.consume, "report": p.report,
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		return errUsage
	}
	if p.dsn == "" {
		return errors.New(urlVariable + " is not set; `make demo` starts a server and sets it")
	}
	p.arguments = arguments
	return commands[arguments[0]](ctx)
}

// flags returns the flag set of the subcommand; parse reads it and refuses the rest.
func (p *process) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("orders "+p.arguments[0], flag.ContinueOnError)
	flags.StringVar(&p.dest, "dest", os.Getenv("DEST"), "what carries the events: service, http, kafka or jobs")
	return flags
}

func (p *process) parse(flags *flag.FlagSet) error {
	if err := flags.Parse(p.arguments[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: arguments are left over", errUsage)
	}
	return nil
}

// parseWithTransport is parse for a process that takes part in a run.
func (p *process) parseWithTransport(flags *flag.FlagSet) (transport, error) {
	if err := p.parse(flags); err != nil {
		return nil, err
	}
	kind, err := kindOf(p.dest)
	if err != nil {
		return nil, err
	}
	return kind.openFor(p.dsn)
}

// number reads a setting that may be left empty.
func number(name, text string, otherwise, least, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is not a number from %d to %d", name, least, most)
	}
	return n, nil
}
