package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// plan says what to measure and for how long.
type plan struct {
	rows    int // messages of one drain
	slow    int // messages of one drain whose handler takes a millisecond
	rounds  int // drains of each kind, of which the median counts
	publish time.Duration
	latency time.Duration
}

// peer is a queue that is measured.
type peer interface {
	drain(ctx context.Context, p plan) error
	publish(ctx context.Context, p plan) error
	latency(ctx context.Context, p plan) error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context) error {
	var p plan
	var name string
	flag.StringVar(&name, "case", "drain", "what to measure: drain, publish or latency")
	flag.IntVar(&p.rows, "rows", 20_000, "messages of one drain")
	flag.IntVar(&p.slow, "slow-rows", 2000, "messages of one drain whose handler takes a millisecond")
	flag.IntVar(&p.rounds, "rounds", 1, "repetitions of a drain")
	flag.DurationVar(&p.publish, "publish-time", 2*time.Second, "how long publishing is measured")
	flag.DurationVar(&p.latency, "latency", 5*time.Second, "length of the measurement of latency")
	flag.Parse()
	url := os.Getenv("BENCH_PEERS_URL")
	if url == "" {
		return errors.New("BENCH_PEERS_URL is not set")
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return errors.New("BENCH_PEERS_URL cannot be read")
	}
	cfg.MaxConns = 24
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, businessTable); err != nil {
		return err
	}
	printVersions()
	for _, each := range []peer{&riverPeer{pool: pool}, &watermillPeer{pool: pool}} {
		measure, known := map[string]func(context.Context, plan) error{
			"drain": each.drain, "publish": each.publish, "latency": each.latency,
		}[name]
		if !known {
			return fmt.Errorf("unknown case %q", name)
		}
		if err := measure(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// measurement is one line of output.
type measurement struct {
	Case   string             `json:"case"`
	Series string             `json:"series"`
	Params map[string]string  `json:"params,omitempty"`
	Values map[string]float64 `json:"values"`
}

// emit prints a measurement for the program that started this one, and for people.
func emit(m measurement) {
	_ = json.NewEncoder(os.Stdout).Encode(m) // whoever reads has gone if this fails, and will say so
	fmt.Fprintf(os.Stderr, "         %s %s %v: %v\n", m.Series, m.Case, m.Params, m.Values)
}

// printVersions tells which releases are measured.
func printVersions() {
	found := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/riverqueue/river" || strings.HasPrefix(m.Path, "github.com/ThreeDotsLabs/") {
				found[m.Path] = m.Version
			}
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"versions": found})
}
