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

	"github.com/satchel-go/satchel/core/relay"
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
