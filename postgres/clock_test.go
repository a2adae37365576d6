package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// parameters notes what is sent with statements.
type parameters struct {
	mu   sync.Mutex
	sent map[string][]any
}

func (p *parameters) note(sql string, args []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent[sql] = append(p.sent[sql], args...)
}

func (p *parameters) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	p.note(d.SQL, d.Args)
	return ctx
}

func (*parameters) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*parameters) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (p *parameters) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	p.note(d.SQL, d.Args)
}

func (*parameters) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TestOnlyTheDatabasesClock: no call of the store sends a time that this process's clock
// gave. Positions of reading are times of rows: they are as the database gave them.
func TestOnlyTheDatabasesClock(t *testing.T) {
	t.Parallel()
	noted := &parameters{sent: map[string][]any{}}
	p := place(t, pgtest.Mapped, func(cfg *pgxpool.Config) { cfg.ConnConfig.Tracer = noted })
	publishing(t, p, alpha("a"), alpha("b"))
	var rowTimes []string
	rows, err := newTable(p.pool, p.schema).Rows(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		rowTimes = append(rowTimes, r.AvailableAt.UTC().Format("2006-01-02T15:04:05.000000Z"))
	}
	store := openStore(t, p)
	for what, err := range everyCall(testContext(t), store) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := store.Open(relay.SessionOptions{Owner: "two"})
	for range 3 { // the second has a position
		if _, err := s.Claim(testContext(t), request(1)); err != nil {
			t.Fatal(err)
		}
	}
	today := time.Now().UTC().Format("2006-01-02")
	seen := 0
	for sql, args := range noted.sent {
		for _, arg := range args {
			seen++
			if _, ok := arg.(time.Time); ok {
				t.Errorf("a time is sent with %.60s", sql)
			}
			texts, _ := arg.([]string)
			for _, text := range append(texts, fmt.Sprint(arg)) {
				if strings.HasPrefix(text, today) && !slices.Contains(rowTimes, text) {
					t.Errorf("a time of today is sent with %.60s", sql)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d parameters were seen", seen)
	}
}

// TestRepeatedHour: where clocks are put back an hour comes twice. Sessions with zones
// of their own store the moment that was meant, to the microsecond; ids give the order.
func TestRepeatedHour(t *testing.T) {
	t.Parallel()
	summer, winter := time.FixedZone("CEST", 2*3600), time.FixedZone("CET", 3600)
	moments := []time.Time{
		time.Date(2040, 10, 28, 2, 30, 0, 123_456_000, summer), // the same on a clock, and an hour apart
		time.Date(2040, 10, 28, 2, 30, 0, 123_456_000, winter),
	}
	each(t, func(t *testing.T, p placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		tx := begin()
		var ids []outbox.ID
		for i, zone := range []string{"Europe/Zurich", "America/New_York"} {
			if err := exec(ctx, tx, "SET LOCAL TimeZone = '"+zone+"'"); err != nil {
				t.Fatal(err)
			}
			e := alpha("a")
			e.ScheduledAt = moments[1-i] // the later moment first
			id, err := tx.PublishAll(ctx, e)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id...)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		rows, err := newTable(p.pool, p.schema).Rows(ctx)
		if err != nil || len(rows) != 2 || ids[0] >= ids[1] {
			t.Fatalf("%d rows with the ids %v: %v", len(rows), ids, err)
		}
		for _, r := range rows {
			want := moments[1]
			if r.ID == ids[1] {
				want = moments[0]
			}
			if !r.ScheduledAt.Equal(want) {
				t.Errorf("entry %d is scheduled at %v, want %v", r.ID, r.ScheduledAt, want)
			}
		}
	})
}
