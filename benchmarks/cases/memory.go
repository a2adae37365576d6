package cases

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
)

var memoryCase = Case{
	Name: "memory",
	About: "Largest resident memory of a process that runs one relay (batches of 500, no-op handler) while rows of as many aggregates wait. It is a " +
		"process of its own and works on the backlog for some seconds.",
	Run: runMemory,
}

func runMemory(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, 1)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	for _, rows := range e.Scale.MemoryRows {
		err := lab.Load(ctx, b.conn, func(ctx context.Context) error {
			return b.load(ctx, `'a' || i, 'BENCH', 'mine', now() - interval '1 hour' + i * interval '1 us', NULL, 'PENDING', NULL, NULL, 0`, rows)
		})
		if err != nil {
			return err
		}
		found, err := e.relayProcess(ctx, b.URL)
		if err != nil {
			return err
		}
		e.Emit(report.Measurement{
			Case: "memory", Series: "satchel", Params: map[string]string{"backlog": strconv.Itoa(rows)},
			Values: map[string]float64{"resident_mb": found.PeakMB, "delivered": float64(found.Delivered)},
		})
		e.Logf("memory with %d rows waiting: %.0f MB after %d deliveries", rows, found.PeakMB, found.Delivered)
	}
	return nil
}

// childReport is what a relay process says of itself.
type childReport struct {
	PeakMB    float64 `json:"peak_mb"`
	Delivered int64   `json:"delivered"`
}

// relayProcess runs a relay in a process of its own.
func (e *Env) relayProcess(ctx context.Context, url string) (found childReport, err error) {
	args := append(e.RelayCommand[1:], e.Scale.MemoryTime.String())
	cmd := exec.CommandContext(ctx, e.RelayCommand[0], args...)
	cmd.Env = append(os.Environ(), childURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return found, fmt.Errorf("the process of the relay: %w", err)
	}
	return found, json.Unmarshal(out, &found)
}

// childURL is the variable that names the database to a relay process.
const childURL = "BENCH_RELAY_URL"

// RelayChild runs a relay for the time that the last argument says, and prints what it
// found. It is what the process does that Env.RelayCommand starts.
func RelayChild(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("a relay process takes one argument, the time to run")
	}
	length, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, os.Getenv(childURL))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	var found childReport
	var delivered atomic.Int64
	count := handler{calls: func(delivery.Envelope) { delivered.Add(1) }}
	r, err := relay.New(store, []delivery.Handler{count}, relay.Config{BatchSize: 500, OnPublished: relay.Delete})
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	if err := r.Run(timed); err != nil {
		return err
	}
	if found.PeakMB, err = peakMemory(); err != nil {
		return err
	}
	found.Delivered = delivered.Load()
	return json.NewEncoder(os.Stdout).Encode(found)
}

// peakMemory returns the largest resident set of this process. Where the system does not
// tell, what the Go runtime has taken from it is the nearest.
func peakMemory() (megabytes float64, err error) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20), nil
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("the system does not say how much memory this process uses")
}
