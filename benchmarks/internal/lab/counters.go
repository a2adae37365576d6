package lab

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Counters are what the server knows about the outbox at one moment.
type Counters struct {
	WAL     int64 // bytes of write-ahead log written so far, by the whole server
	Heap    int64 // bytes of the table without its indexes
	Indexes int64 // bytes of all its indexes
	Updates int64 // rows updated
	HOT     int64 // rows updated without writing an index
}

// flush makes a session's counts of rows visible. Before version 15 a session does that
// by itself, half a second later at the latest.
const flush = `DO $$ BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN PERFORM pg_stat_force_next_flush(); ELSE PERFORM pg_sleep(1); END IF;
END $$`

// ReadCounters reads them. It must be called on the connection that did the work, since
// a session's counts of rows reach others with a delay.
func ReadCounters(ctx context.Context, conn *pgx.Conn) (c Counters, err error) {
	if _, err := conn.Exec(ctx, flush); err != nil {
		return c, err
	}
	err = conn.QueryRow(ctx, `
		SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, pg_table_size('outbox'), pg_indexes_size('outbox'),
		       n_tup_upd, n_tup_hot_upd
		  FROM pg_stat_user_tables WHERE relid = 'outbox'::regclass`).Scan(&c.WAL, &c.Heap, &c.Indexes, &c.Updates, &c.HOT)
	return c, err
}

// Checkpoint writes a checkpoint, so that measurements do not pay for each other's pages.
func Checkpoint(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "CHECKPOINT")
	return err
}

// HoldSnapshot opens a transaction that keeps the server from removing anything that is
// deleted from now on, until release is called.
func HoldSnapshot(ctx context.Context, url string) (release func(), err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	release = func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	if _, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ"); err == nil {
		_, err = conn.Exec(ctx, "SELECT count(*) FROM pg_class") // takes the snapshot
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
