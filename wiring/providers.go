package wiring

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/listener"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgres/scheduler"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

const (
	// connectionsPerRelay is what a relay uses at most at once.
	connectionsPerRelay = 5
	// archiveDaysAhead is the number of days for which the archive has partitions: more
	// than a weekend in which cleanup fails.
	archiveDaysAhead = 7
	// closeTimeout bounds the wait for connections that somebody still uses.
	closeTimeout = 10 * time.Second
)

// NewPool returns a pool that connects when it is first used, and the function that closes it.
func NewPool(s Settings, in Inputs, logger *slog.Logger) (*pgxpool.Pool, func(), error) {
	if in.Database.URL == "" {
		return nil, nil, fault.NewInvalid("database URL", "is empty")
	}
	cfg, err := pgxpool.ParseConfig(string(in.Database.URL))
	if err != nil {
		return nil, nil, fault.NewInvalid("database URL", "is not one that pgx can read") // its error quotes the URL
	}
	if !strings.Contains(string(in.Database.URL), "pool_max_conns") {
		cfg.MaxConns = max(cfg.MaxConns, int32(connectionsPerRelay*(s.Tree().InboxOutbox.Relay.Instances+1)))
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("pool: %w", err)
	}
	return pool, func() { closePool(pool, logger) }, nil
}

// closePool waits for connections in use, but not for ever: a handler that ignores its
// context may hold one in a transaction.
func closePool(pool *pgxpool.Pool, logger *slog.Logger) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
		logger.Warn("satchel: the pool still has connections in use; leaving it", "in_use", pool.Stat().AcquiredConns())
	}
}

// PostgresConfig places the store.
func PostgresConfig(s Settings) postgres.Config {
	return postgres.Config{Schema: s.Tree().DB.Schemas.InboxOutbox}
}

// PgxConfig places publisher and inbox for pgx.
func PgxConfig(s Settings) pgxtx.Config { return pgxtx.Config{Schema: s.Tree().DB.Schemas.InboxOutbox} }

// SQLConfig places publisher and inbox for database/sql and sqlx.
func SQLConfig(s Settings) sqltx.Config { return sqltx.Config{Schema: s.Tree().DB.Schemas.InboxOutbox} }

// OutboxConfig adjusts publishers.
func OutboxConfig(s Settings, in Inputs) outbox.Config {
	cfg := s.Tree().Outbox()
	cfg.ReservedPrefix = in.Prefix()
	cfg.Propagation = in.Propagation
	cfg.Fingerprint = in.Fingerprint
	return cfg
}

// NewListener returns the listener, or nil under the strategy POLLING, which needs none.
func NewListener(s Settings, in Inputs, logger *slog.Logger) (*listener.Listener, error) {
	if s.Tree().InboxOutbox.Relay.Strategy == relay.Polling {
		return nil, nil
	}
	url := in.Database.ListenURL
	if url == "" {
		url = in.Database.URL
	}
	return listener.New(string(url), listener.Config{Logger: logger})
}

// RelayConfig adjusts the relays.
func RelayConfig(s Settings, in Inputs, l *listener.Listener, logger *slog.Logger) relay.Config {
	cfg := s.Tree().Relay()
	cfg.Propagation = in.Propagation
	cfg.Observers = in.Observers
	cfg.Logger = logger
	if l != nil { // a nil pointer in the interface would be a waker
		cfg.Waker = l
	}
	return cfg
}

// NewRelays returns as many relays as the settings say, which share the handlers. Their names
// in the database are that of the process with a number each.
func NewRelays(s Settings, store *postgres.Store, handlers []delivery.Handler, cfg relay.Config) ([]*relay.Relay, error) {
	process := processName()
	relays := make([]*relay.Relay, s.Tree().InboxOutbox.Relay.Instances)
	for i := range relays {
		cfg.Owner = fmt.Sprintf("%s-%d", process, i+1)
		var err error
		if relays[i], err = relay.New(store, handlers, cfg); err != nil {
			return nil, err // the same for every instance
		}
	}
	return relays, nil
}

// processName is a name that no other process has, also not an earlier one of this host.
func processName() string {
	host, err := os.Hostname()
	if err != nil || strings.TrimSpace(host) == "" {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%.8s", fault.Clean(host, 180), os.Getpid(), strings.ToLower(rand.Text()))
}

// SchedulerConfig adjusts maintenance. Under onPublished ARCHIVE it also looks after the
// partitions of the archive.
func SchedulerConfig(s Settings, logger *slog.Logger) scheduler.Config {
	cfg := scheduler.Config{
		Cleanup:     s.Tree().Cron.Jobs.OutboxCleanup.Cron,
		Recovery:    s.Tree().Cron.Jobs.OutboxStaleLeaseRecovery.Cron,
		Maintenance: s.Tree().Maintenance(),
		Logger:      logger,
	}
	if s.Tree().InboxOutbox.Relay.OnPublished == relay.Archive {
		cfg.ArchiveDaysAhead = archiveDaysAhead
	}
	return cfg
}
