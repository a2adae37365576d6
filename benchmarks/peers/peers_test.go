package main

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// emptyDatabase returns a pool on a database of its own.
func emptyDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	url := os.Getenv("SATCHEL_DATABASE_URL")
	if url == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run `make test`, which starts a server")
	}
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	name := "peers_" + strings.ToLower(rand.Text()[:12])
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.Database, cfg.MaxConns = name, 24
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		if _, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		_ = admin.Close(context.Background())
	})
	if _, err := pool.Exec(t.Context(), businessTable); err != nil {
		t.Fatal(err)
	}
	return pool
}

// Every peer must be able to do what it is measured at; a lost message would hang a run.
func TestPeersDeliver(t *testing.T) {
	t.Parallel()
	pool := emptyDatabase(t)
	tiny := plan{rows: 300, slow: 20, rounds: 1, publish: 50 * time.Millisecond, latency: 200 * time.Millisecond}
	for name, each := range map[string]peer{"river": &riverPeer{pool: pool}, "watermill": &watermillPeer{pool: pool}} {
		for what, measure := range map[string]func(context.Context, plan) error{"drain": each.drain, "publish": each.publish, "latency": each.latency} {
			if err := measure(t.Context(), tiny); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

func TestCountdownCountsEachMessageOnce(t *testing.T) {
	t.Parallel()
	c := newCountdown(2)
	for _, n := range []int{0, 0, -1, 7} {
		c.arrive(n)
	}
	select {
	case <-c.done:
		t.Fatal("done after one of two messages")
	default:
	}
	c.arrive(1)
	if err := c.wait(t.Context()); err != nil {
		t.Error(err)
	}
	if q := c.quantiles(); q["messages"] != 2 || q["p50_ms"] > q["p999_ms"] {
		t.Errorf("quantiles %v", q)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for want, values := range map[float64][]float64{1: {1}, 2: {3, 1, 2}, 4: {9, 4, 5, 1}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: got %v, want %v", values, got, want)
		}
	}
}
