package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/satchel-go/satchel/benchmarks/cases"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/servers/pgserver"
)

// settings of the temporary server, equal for all contenders. Room in memory and in the
// log keeps checkpoints and evictions, which come when they please, out of short rounds.
func settings(durable bool) map[string]string {
	s := map[string]string{
		"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "15min", "work_mem": "32MB",
		"fsync": "off", "synchronous_commit": "on",
	}
	if durable {
		s["fsync"] = "on"
	}
	return s
}

// scale returns how much is measured.
func (o *options) scale() (cases.Scale, error) {
	scale := cases.Short
	switch {
	case o.tiny && o.full:
		return cases.Scale{}, errors.New("-tiny and -full exclude each other")
	case o.backlog < 0:
		return cases.Scale{}, errors.New("-backlog is negative")
	case o.tiny:
		scale = cases.Tiny
	case o.full:
		scale = cases.Full
	}
	if o.backlog > 0 {
		scale.Name = fmt.Sprintf("%s-%d", scale.Name, o.backlog)
		scale.Backlogs, scale.MemoryRows = []int{o.backlog}, []int{o.backlog}
	}
	return scale, nil
}

// measure runs the selected cases and returns what they found, also when one of them
// failed or the run was interrupted.
func (o *options) measure(ctx context.Context) (run *report.Run, err error) {
	selected, err := cases.Select(o.pattern)
	if err != nil {
		return nil, err
	}
	scale, err := o.scale()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	logf := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	server, err := pgserver.Find(ctx, pgserver.Options{Logf: logf, Settings: settings(o.durable), Image: o.image})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	logf("%s", server)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	run = &report.Run{
		Began: began, Command: os.Args, Scale: scale.Name, Machine: machine(), Server: server.String(),
		Versions: versions(),
	}
	run.Command[0] = "bench" // not where it happened to be built
	if run.Settings, err = serverSettings(ctx, server.URL); err != nil {
		return nil, err
	}
	env := &cases.Env{
		URL: server.URL, Scale: scale, Logf: logf, RelayCommand: []string{self, childMode},
		Emit: func(m report.Measurement) { run.Measurements = append(run.Measurements, m) },
	}
	stopProfile, err := o.startProfile()
	if err != nil {
		return nil, err
	}
	defer stopProfile()
	defer func() { run.Took = time.Since(began).Round(time.Second).String() }()
	for _, c := range selected {
		logf("case %s", c.Name)
		if err := c.Run(ctx, env); err != nil {
			return run, fmt.Errorf("case %s: %w", c.Name, err)
		}
		if o.peers {
			if err := o.runPeers(ctx, env, c.Name, run); err != nil {
				return run, err
			}
		}
	}
	return run, nil
}

func (o *options) startProfile() (stop func(), err error) {
	if o.profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(o.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
