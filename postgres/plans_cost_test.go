package postgres

import (
	"errors"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
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
