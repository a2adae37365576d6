package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/benchmarks/cases"
	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/report"
)

// comparable are the cases in which peers take part.
var comparable = []string{"drain", "publish", "latency"}

// peerLine is a line of the peers' output: versions first, then measurements.
type peerLine struct {
	Versions map[string]string `json:"versions"`
	report.Measurement
}

// runPeers measures the peers right after our own measurements of a case, in a database
// of their own. They are a process, since they are a module, of their own.
func (o *options) runPeers(ctx context.Context, env *cases.Env, name string, run *report.Run) (err error) {
	if !slices.Contains(comparable, name) {
		return nil
	}
	folder, err := os.MkdirTemp("", "bench-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "peers")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir, build.Env, build.Stderr = o.peersDir, append(os.Environ(), "GOWORK=off"), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the peers: %w", err)
	}
	database, err := lab.Create(ctx, env.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close(ctx)) }()
	s := env.Scale
	cmd := exec.CommandContext(ctx, program, "-case", name,
		"-rows", strconv.Itoa(s.DrainRows), "-slow-rows", strconv.Itoa(min(s.SlowRows, 2000)), "-rounds", strconv.Itoa(s.DrainRound),
		"-publish-time", (s.PublishRound * time.Duration(s.PublishRounds)).String(), "-latency", s.Latency.String())
	cmd.Env = append(os.Environ(), "BENCH_PEERS_URL="+database.URL)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = readPeers(out, env.Emit, run.Versions)
	if exitErr := cmd.Wait(); exitErr != nil {
		err = fmt.Errorf("the peers' process: %w", exitErr)
	}
	return err
}

// readPeers takes in what the peers print.
func readPeers(out io.Reader, emit func(report.Measurement), versions map[string]string) error {
	for lines := json.NewDecoder(out); ; {
		var l peerLine
		switch err := lines.Decode(&l); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading what the peers print: %w", err)
		case l.Versions != nil:
			maps.Copy(versions, l.Versions)
		default:
			emit(l.Measurement)
		}
	}
}
