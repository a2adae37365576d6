// Command bench measures satchel on one PostgreSQL server and writes results.
//
//	bench [-tiny|-full] [-peers] [-case regexp] [-container image] [-durable] [-out folder] [-name name]
//
// It starts a temporary server, with -container in a container of that image, or uses that
// of SATCHEL_DATABASE_URL, in databases of its own that it drops. Exit status 1 means that
// measuring failed; a bound that was missed is told in the results and does not fail the
// run, unless -strict is given.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/satchel-go/satchel/benchmarks/cases"
	"github.com/satchel-go/satchel/benchmarks/report"
)

// childMode makes the process a relay whose memory is measured.
const childMode = "relay-child"

type options struct {
	tiny, full, peers         bool
	durable, strict           bool
	backlog                   int
	pattern, image, out, name string
	peersDir, profile, redraw string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == childMode {
		err = cases.RelayChild(ctx, os.Args[2:])
	} else {
		err = command(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context) error {
	var o options
	flag.BoolVar(&o.tiny, "tiny", false, "only prove that every case works (seconds); the figures mean nothing")
	flag.BoolVar(&o.full, "full", false, "measure everything at full length (about an hour)")
	flag.BoolVar(&o.peers, "peers", false, "also measure River and watermill-sql, from the module in -peers-dir")
	flag.IntVar(&o.backlog, "backlog", 0, "measure claims and memory with a backlog of this many rows only")
	flag.StringVar(&o.image, "container", "", "measure a server in a container of this image")
	flag.BoolVar(&o.durable, "durable", false, "turn fsync on in the temporary server")
	flag.BoolVar(&o.strict, "strict", false, "fail if a bound was missed")
	flag.StringVar(&o.pattern, "case", ".", "measure only the cases whose names match this expression")
	flag.StringVar(&o.out, "out", "results", "folder for the results")
	flag.StringVar(&o.name, "name", "", "name of the results (default tiny, short or full)")
	flag.StringVar(&o.peersDir, "peers-dir", "peers", "folder of the peers' module")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of this process to a file")
	flag.StringVar(&o.redraw, "redraw", "", "measure nothing; write tables and plots anew from this JSON file")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	run, err := o.run(ctx)
	if run == nil {
		return err
	}
	if o.name == "" {
		o.name = run.Scale
	}
	if err != nil { // what was measured until then took its time and may explain the failure
		return errors.Join(err, run.Write(o.out, o.name+"-incomplete", abouts()))
	}
	if err := run.Write(o.out, o.name, abouts()); err != nil {
		return err
	}
	if o.tiny { // figures that mean nothing miss no bound
		return nil
	}
	missed := 0
	for _, c := range run.Checks() {
		fmt.Printf("%-12s  %s: %s (%s)\n", c.Verdict, c.What, c.Found, c.Bound)
		if c.Verdict == report.Miss {
			missed++
		}
	}
	if o.strict && missed > 0 {
		return fmt.Errorf("%d bounds were missed", missed)
	}
	return nil
}

// run returns nil if nothing was measured, and, with an error, what was measured before it.
func (o *options) run(ctx context.Context) (*report.Run, error) {
	if o.redraw != "" {
		return report.Read(o.redraw)
	}
	return o.measure(ctx)
}

// abouts returns the explanation of every case.
func abouts() map[string]string {
	out := map[string]string{}
	for _, c := range cases.All() {
		out[c.Name] = c.About
	}
	return out
}
