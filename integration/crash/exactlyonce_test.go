package crash

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

type transfer struct{ Account, N int }

// credit moves money in the transaction that settles its entry; receipt is sent in the same.
var (
	credit  = service.MustOperation[transfer]("bank.credit")
	receipt = service.MustOperation[transfer]("bank.receipt")
)

// transactional runs a relay whose handlers work in the settling transaction.
func transactional(ctx context.Context, text []byte, say func(string)) error {
	var o orders
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	pool, err := o.Database.Open(lab.Size(8))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	reg := service.NewRegistry()
	creditErr := service.HandleTx(reg, credit, func(ctx context.Context, tx pgx.Tx, m transfer) error {
		if _, err := tx.Exec(ctx, `UPDATE account SET balance = balance + 1 WHERE id = $1`, m.Account); err != nil {
			return err
		}
		time.Sleep(rand.N(10 * time.Millisecond))
		if rand.N(10) == 0 {
			return errors.New("not this time") // takes the credit back
		}
		_, err := service.Send(ctx, pub, tx, receipt, m)
		return err
	}, service.HandlerOptions{})
	receiptErr := service.HandleTx(reg, receipt, func(ctx context.Context, tx pgx.Tx, m transfer) error {
		_, err := tx.Exec(ctx, `INSERT INTO receipt VALUES ($1, $2)`, m.Account, m.N)
		return err
	}, service.HandlerOptions{})
	handler, err := service.NewHandler(reg, service.Config{})
	if err := errors.Join(creditErr, receiptErr, err); err != nil {
		return err
	}
	cfg := lab.Fast()
	cfg.Owner, cfg.Concurrency = o.Node, 4
	r, err := relay.New(store, []delivery.Handler{handler}, cfg)
	if err != nil {
		return err
	}
	go recoverEvery(ctx, store, o.MaxClaims, 100, 100*time.Millisecond)
	say("running")
	return r.Run(ctx)
}

func TestEffectInTheSettlingTransactionHappensOnce(t *testing.T) {
	s := newScene(t)
	s.db.Exec(t, `CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
		CREATE TABLE receipt (account int NOT NULL, n int NOT NULL); -- no key: a second one would show
		INSERT INTO account SELECT g, 0 FROM generate_series(1, 5) g`)
	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	each := lab.Sized(60, 500)
	ctx := lab.Context(t)
	if err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		for account := 1; account <= 5; account++ {
			for n := 1; n <= each; n++ {
				if _, err := service.Send(ctx, pub, tx, credit, transfer{account, n}); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range lab.Sized(5, 20) {
		c, node := s.start("transactional", orders{})
		c.Said("running")
		time.Sleep(50*time.Millisecond + rand.N(300*time.Millisecond))
		s.kill(c, node)
	}
	if left := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE published_at IS NULL`); left == 0 {
		t.Log("everything was done before the last kill")
	}
	s.start("transactional", orders{})
	lab.Eventually(t, "every entry is settled", func() bool {
		return lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE published_at IS NOT NULL`) == 2*5*each
	})
	for account := 1; account <= 5; account++ {
		if balance := lab.Value[int](t, s.pool, `SELECT balance FROM account WHERE id = $1`, account); balance != each {
			t.Errorf("account %d was credited %d times, want %d", account, balance, each)
		}
	}
	if odd := lab.Value[int](t, s.pool, `SELECT count(*) FROM (SELECT FROM receipt GROUP BY account, n HAVING count(*) <> 1) s`); odd != 0 {
		t.Errorf("%d receipts came more than once", odd)
	}
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM receipt`); n != 5*each {
		t.Errorf("%d receipts, want %d", n, 5*each)
	}
}
