package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kfake"
)

// actVariable makes the test binary act as the program, so that the demonstration's
// processes can be started from a test.
const actVariable = "ORDERS_TEST_ACT_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(actVariable) != "" {
		main()
		return
	}
	_ = os.Setenv(actVariable, "yes") // for the processes that tests start
	stop, err := standIns()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	stop()
	os.Exit(status)
}

// standIns starts a Kafka cluster and a Redis inside this process where the environment
// names none. The processes of a play reach them like real ones.
func standIns() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, variable := range []string{brokersVariable, redisVariable} {
		if os.Getenv(variable) != "" {
			continue
		}
		if os.Getenv("SATCHEL_REQUIRE_REAL") == "1" {
			return stop, fmt.Errorf("%s is not set, and SATCHEL_REQUIRE_REAL refuses a stand-in", variable)
		}
		var address string
		if variable == brokersVariable {
			cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
			if err != nil {
				return stop, err
			}
			stops = append(stops, cluster.Close)
			address = strings.Join(cluster.ListenAddrs(), ",")
		} else {
			server, err := miniredis.Run()
			if err != nil {
				return stop, err
			}
			stops = append(stops, server.Close)
			address = "redis://" + server.Addr() + "/0"
		}
		fmt.Fprintf(os.Stderr, "%s is not set: using a stand-in\n", variable)
		_ = os.Setenv(variable, address)
	}
	return stop, nil
}

// server returns the database server to test with.
func server(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv(urlVariable)
	if dsn == "" {
		t.Fatal(urlVariable + " is not set: run `make test`, which starts a server")
	}
	return dsn
}

// testDatabase makes a database for one test, and a pool of at most n connections to it.
func testDatabase(t *testing.T, n int32) (dsn string, pool *pgxpool.Pool) {
	t.Helper()
	db, err := newDatabase(t.Context(), server(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if pool, err = newPool(t.Context(), db.dsn, n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return db.dsn, pool
}

// testTransport opens a transport for a database.
func testTransport(t *testing.T, name, dsn string) transport {
	t.Helper()
	k, err := kindOf(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := k.openFor(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func testConsumer(t *testing.T, pool *pgxpool.Pool) *consumer {
	t.Helper()
	c, err := newConsumer(pool, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
