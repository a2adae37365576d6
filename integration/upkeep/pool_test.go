package upkeep

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

type step struct{ Order, N int }

// A pool that is far too small makes everything slower. It must not make anything wait for itself.
func TestSmallPoolDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	for size := int32(1); size <= 3; size++ {
		for _, own := range []bool{false, true} {
			name := fmt.Sprintf("%d connections, handlers begin their transactions", size)
			if own {
				name = fmt.Sprintf("%d connections, handlers are lent one", size)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				smallPool(t, size, own)
			})
		}
	}
}

func smallPool(t *testing.T, size int32, lent bool) {
	db := lab.New(t)
	pool, watch := db.Pool(t, lab.Size(size)), db.Pool(t, lab.Size(1))
	var (
		first  = service.MustOperation[step]("first")
		second = service.MustOperation[step]("second")
		done   atomic.Int64
	)
	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	follow := func(ctx context.Context, tx pgx.Tx, s step) error {
		_, err := service.Send(ctx, pub, tx, second, s)
		return err
	}
	reg := service.NewRegistry()
	if lent {
		err = service.HandleTx(reg, first, follow, service.HandlerOptions{})
	} else {
		err = service.Handle(reg, first, func(ctx context.Context, s step) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return follow(ctx, tx, s) })
		}, service.HandlerOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	err = service.Handle(reg, second, func(ctx context.Context, _ step) error {
		if _, err := pool.Exec(ctx, `SELECT 1`); err != nil {
			return err
		}
		done.Add(1)
		return nil
	}, service.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := service.NewHandler(reg, service.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rows := lab.Sized(100, 1000) // each leads to another one
	ctx := lab.Context(t)
	if err := pgx.BeginFunc(ctx, watch, func(tx pgx.Tx) error {
		for n := range rows {
			if _, err := service.Send(ctx, pub, tx, first, step{n % 10, n}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var log lab.Log
	schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: everySecond, Logger: log.Logger()})
	lab.Relay(t, lab.Store(t, pool), relay.Config{Concurrency: 8, Waker: lab.Listen(t, db, listener.Config{})}, handler)
	lab.Eventually(t, "all is delivered", func() bool { return int(done.Load()) == rows })
	lab.Eventually(t, "all is settled", func() bool {
		return lab.States(t, watch) == fmt.Sprint("PUBLISHED=", 2*rows)
	})
	if n := lab.Value[int](t, watch, `SELECT count(*) FROM outbox WHERE attempt <> 0`); n != 0 {
		t.Errorf("%d entries were charged an attempt", n)
	}
	lab.Eventually(t, "maintenance runs", func() bool {
		return lab.Value[int](t, watch, `SELECT count(*) FROM outbox_maintenance WHERE finished_at IS NOT NULL`) == 2
	})
	if n := log.Count("maintenance failed"); n > 0 {
		t.Errorf("%d failures: %v", n, log.Lines())
	}
}
