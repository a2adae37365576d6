package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/kafkaserver"
	"github.com/satchel-go/satchel/servers/pgserver"
	"github.com/satchel-go/satchel/servers/redisserver"
)

// stopLimit bounds stopping; what does not end in time is killed.
const stopLimit = 20 * time.Second

// running holds the servers in use.
type running struct {
	mu        sync.Mutex
	instances []*servers.Instance
	env       []string
}

func (r *running) add(i *servers.Instance, variable, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instances = append(r.instances, i)
	r.env = append(r.env, variable+"="+value)
}

// programs lets the command find pg_dump and the like of the server, if they are not
// installed.
func (r *running) programs(s *pgserver.Server) {
	if s.Programs == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env = append(r.env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+s.Programs)
	if s.Libraries != "" {
		r.env = append(r.env, "LD_LIBRARY_PATH="+strings.Trim(os.Getenv("LD_LIBRARY_PATH")+":"+s.Libraries, ":"))
	}
}

// environment returns the variables for the command.
func (r *running) environment() []string { return r.env }

// stop stops what was started, all at once.
func (r *running) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	failures := make([]error, len(r.instances))
	var wait sync.WaitGroup
	for n, instance := range r.instances {
		wait.Go(func() { failures[n] = instance.Stop(ctx) })
	}
	wait.Wait()
	return errors.Join(failures...)
}

// start finds the servers side by side: together they take as long as the slowest. A signal ends the search. The
// result is to be stopped also with an error.
func start(ctx context.Context, o options, signals *signals, out io.Writer) (*running, error) {
	ctx, cancel := signals.cancelled(ctx)
	defer cancel()
	var printing sync.Mutex
	logf := func(format string, args ...any) {
		printing.Lock()
		defer printing.Unlock()
		_, _ = fmt.Fprintf(out, format+"\n", args...)
	}

	r := &running{}
	finders := finders(o, r)
	failures := make([]error, len(finders))
	var wait sync.WaitGroup
	for n, find := range finders {
		wait.Go(func() {
			instance, err := find(ctx, logf)
			if err != nil {
				failures[n] = err
				return
			}
			logf("%v", instance)
		})
	}
	wait.Wait()
	// A signal that came too late to stop the search still means: do not start the command.
	return r, errors.Join(append(failures, context.Cause(ctx))...)
}

type finder func(ctx context.Context, logf func(string, ...any)) (*servers.Instance, error)

// finders lists what was asked for. Each notes the server that it found, with the variable for the command.
func finders(o options, r *running) []finder {
	var list []finder
	if o.postgres {
		list = append(list, func(ctx context.Context, logf func(string, ...any)) (*servers.Instance, error) {
			s, err := pgserver.Find(ctx, pgserver.Options{
				Logf: prefixed("postgres", logf), Settings: o.settings, Ephemeral: o.ephemeral,
			})
			if err != nil {
				return nil, fmt.Errorf("postgres: %w", err)
			}
			r.add(s.Instance, pgserver.EnvURL, s.URL)
			r.programs(s)
			return s.Instance, nil
		})
	}
	if o.redis {
		list = append(list, func(ctx context.Context, logf func(string, ...any)) (*servers.Instance, error) {
			s, err := redisserver.Find(ctx, redisserver.Options{Logf: prefixed("redis", logf)})
			if err != nil {
				return nil, fmt.Errorf("redis: %w", err)
			}
			r.add(s.Instance, redisserver.EnvURL, s.URL)
			return s.Instance, nil
		})
	}
	if o.kafka {
		list = append(list, func(ctx context.Context, logf func(string, ...any)) (*servers.Instance, error) {
			s, err := kafkaserver.Find(ctx, kafkaserver.Options{Logf: prefixed("kafka", logf)})
			if err != nil {
				return nil, fmt.Errorf("kafka: %w", err)
			}
			r.add(s.Instance, kafkaserver.EnvBrokers, strings.Join(s.Brokers, ","))
			return s.Instance, nil
		})
	}
	return list
}

func prefixed(kind string, logf func(string, ...any)) func(string, ...any) {
	return func(format string, args ...any) { logf(kind+": "+format, args...) }
}
