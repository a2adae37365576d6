package postgres

import (
	"errors"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// pages bounds how many pages a statement may touch: in proportion to what it was
// asked to handle, not to the table. An entry whose indexes change costs about thirty
// (recovery has a thousand of them here), a deleted one about ten.
var pages = map[string]int{
	"claim": 15_000, "settle_keep": 300, "settle_other": 300, "reclaim": 40_000, "bump": 300, "heal": 5_000,
	"delete_published": 15_000, "delete_dead_letters": 15_000, "delete_inbox": 10_000, "next_due": 100,
}

// testPages executes statements, each in a transaction that is rolled back.
func testPages(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	undo := errors.New("undo")
	for _, p := range plannedStatements(t) {
		bound, measured := pages[p.name]
		if !measured {
			continue
		}
		var plan string
		err := pgx.BeginFunc(testContext(t), conn, func(tx pgx.Tx) (err error) {
			if plan, err = explainIn(t.Context(), tx, p, "force_generic_plan", "ANALYZE, BUFFERS, COSTS OFF, TIMING OFF"); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatalf("%s: %v", p.name, err)
		}
		touched := touchedPages(plan)
		t.Logf("%s touched %d pages", p.name, touched)
		if touched == 0 || touched > bound {
			t.Errorf("%s touched %d pages, expected 1 to %d:\n%s", p.name, touched, bound, plan)
		}
	}
}

var buffers = regexp.MustCompile(`Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?`)

// touchedPages is the largest number of pages of any node; a node counts those below it.
func touchedPages(plan string) (most int) {
	for _, m := range buffers.FindAllStringSubmatch(plan, -1) {
		hit, _ := strconv.Atoi(m[1])
		read, _ := strconv.Atoi(m[2])
		most = max(most, hit+read)
	}
	return most
}

// TestClaimReadsByTheBatch: what a claim touches depends on its batch, not on the
// backlog, nor on how the backlog is spread over aggregates.
func TestClaimReadsByTheBatch(t *testing.T) {
	t.Parallel()
	for name, aggregates := range map[string]func(n int) int{
		"an aggregate for each":   func(n int) int { return n },
		"a hundred in each":       func(n int) int { return n / 100 },
		"one aggregate, no other": func(int) int { return 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var few int
			for _, n := range []int{1000, 20_000} {
				p := place(t, "")
				insertMany(t, p, aggregates(n), n/aggregates(n))
				pages := claimPages(t, p)
				t.Logf("%d waiting: %d pages", n, pages)
				if few == 0 {
					few = pages
				}
				if pages > 2*few+100 { // an index may be a level deeper
					t.Errorf("%d entries waiting: %d pages, and %d with the smaller backlog", n, pages, few)
				}
			}
		})
	}
}

// claimPages is how many pages the first claim of a session touches.
func claimPages(t *testing.T, p placed) (pages int) {
	t.Helper()
	scan := reading.Scan{Type: "ALPHA", From: reading.Start, To: reading.End, Window: 50}
	claim := plannedStatements(t)[0]
	claim.args = append(claimArgs([]reading.Scan{scan}, request(50).Scope), []string{}, 50, 20, "owner", int64(30_000_000), (*int64)(nil))
	undo := errors.New("undo")
	err := pgx.BeginFunc(testContext(t), p.pool, func(tx pgx.Tx) error {
		plan, err := explainIn(t.Context(), tx, claim, "force_generic_plan", "ANALYZE, BUFFERS, COSTS OFF, TIMING OFF")
		if err != nil {
			return err
		}
		if pages = touchedPages(plan); pages == 0 {
			t.Errorf("nothing was measured:\n%s", plan)
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	return pages
}
