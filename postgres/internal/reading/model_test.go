package reading

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

// entry is an unsettled row of the model.
type entry struct {
	Point
	kind      destination.Type
	name      string
	visible   time.Time // committed at
	blocked   bool      // an earlier row of its aggregate is unsettled
	claimed   bool
	waitSince time.Time // claimable since, as far as this relay is concerned
}

// model is a small index with one relay that reads it, in virtual time.
type model struct {
	*testing.T
	now    time.Time
	random *rand.Rand
	reader *Reader
	rows   []*entry
	nextID int64
	scope  []claim.TypeScope
	limit  int
	// busy: now and then, successors of settled rows fill a claim before any row of a
	// scan is considered.
	busy bool
	// ahead: a claim is planned while the one before it, which has answered, has not ended.
	ahead   bool
	unended []Scan
}

func newModel(t *testing.T, seed uint64, paths Paths) *model {
	return &model{
		T: t, now: time.Unix(1_700_000_000, 0), random: rand.New(rand.NewPCG(seed, 0)), reader: NewReader(paths), limit: 5,
		scope: []claim.TypeScope{{Type: "A", All: true}, {Type: "B", All: true}},
	}
}

// insert adds a row that is due so long from now, and visible after a delay.
func (m *model) insert(kind destination.Type, due, commit time.Duration) *entry {
	m.nextID++
	e := &entry{
		Point: Point{Due: m.now.Add(due).UnixMicro(), ID: m.nextID}, kind: kind,
		name: string(rune('x' + m.random.IntN(3))), visible: m.now.Add(commit),
	}
	m.rows = append(m.rows, e)
	return e
}

// claimable reports whether a claim that looks at e has to take it.
func (m *model) claimable(e *entry) bool {
	if e.blocked || e.claimed {
		return false
	}
	return slices.ContainsFunc(m.scope, func(ts claim.TypeScope) bool { return ts.Type == e.kind && ts.Allows(e.name) })
}

// index returns what a scan reads, as the statement does.
func (m *model) index(s Scan) []*entry {
	from := s.From
	if s.Lag > 0 {
		from = Point{Due: m.now.Add(-s.Lag).UnixMicro()}
	}
	var out []*entry
	for _, e := range m.rows {
		if e.kind == s.Type && !e.visible.After(m.now) && from.Before(e.Point) && !s.To.Before(e.Point) && e.Due <= m.now.UnixMicro() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, byPoint)
	return out[:min(len(out), s.Window)]
}

func byPoint(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.ID, b.ID))
}

// claim does one claim; it checks what holds of every plan and of the positions.
func (m *model) claim() (taken []*entry, more bool) {
	m.Helper()
	scans := m.reader.Plan(m.now, m.scope, m.limit)
	taken, seen, result := m.take(scans)
	before := map[destination.Type]Point{}
	for kind, l := range m.reader.lanes {
		before[kind] = l.position
	}
	more = m.reader.Advance(m.now, scans, result)
	m.checkPositions(before, seen)
	m.end(scans)
	return taken, more
}

// end ends a claim, or lets it last until the next has answered.
func (m *model) end(scans []Scan) {
	if m.ahead {
		scans, m.unended = m.unended, scans
	}
	m.reader.Done(scans)
}

// take does what the statement does with a plan.
func (m *model) take(scans []Scan) (taken, seen []*entry, result Result) {
	m.Helper()
	result = Result{Edges: map[int]Edge{}, Took: time.Millisecond}
	for i, s := range scans {
		if s.Window < 1 || s.Window > max(maxWindow, m.limit) {
			m.Fatalf("window of %d rows", s.Window)
		}
		rows := m.index(s)
		if len(rows) > 0 {
			result.Edges[i] = Edge{Rows: len(rows), First: rows[0].Point, Last: rows[len(rows)-1].Point}
		}
		seen = append(seen, rows...)
	}
	slices.SortFunc(seen, byPoint)
	successors := 0
	if m.busy && m.random.IntN(5) == 0 {
		successors = m.limit
	}
	for _, e := range seen {
		switch {
		case !m.claimable(e):
		case successors+len(taken) < m.limit:
			e.claimed = true
			taken = append(taken, e)
			result.Cut = &e.Point
		default:
			result.Left++
		}
	}
	result.Taken, result.Limit = successors+len(taken), m.limit
	result.Full = result.Taken >= m.limit
	return taken, seen, result
}

// checkPositions: a position passes a row only if the claim looked at it and took it
// or could not.
func (m *model) checkPositions(before map[destination.Type]Point, seen []*entry) {
	m.Helper()
	for kind, l := range m.reader.lanes {
		if l.position.Before(before[kind]) {
			m.Fatalf("the position of %s went back", kind)
		}
		for _, e := range m.rows {
			if e.kind != kind || e.visible.After(m.now) || !before[kind].Before(e.Point) || l.position.Before(e.Point) {
				continue
			}
			if !slices.Contains(seen, e) {
				m.Fatalf("the position of %s passed row %d, which nobody looked at", kind, e.ID)
			}
			if m.claimable(e) {
				m.Fatalf("the position of %s passed row %d, which could have been taken", kind, e.ID)
			}
		}
	}
}

// change does something to the rows that the reader is not told of.
func (m *model) change() {
	kind := []destination.Type{"A", "B"}[m.random.IntN(2)]
	switch m.random.IntN(10) {
	case 0: // scheduled
		m.insert(kind, time.Duration(m.random.IntN(3000))*time.Millisecond, 0)
	case 1: // committed late, within what is looked back, or not
		m.insert(kind, 0, time.Duration(m.random.IntN(3000))*time.Millisecond)
	case 2: // written by another program
		m.insert(kind, -time.Duration(m.random.IntN(3600))*time.Second, 0)
	case 3: // behind another row of its aggregate
		m.insert(kind, 0, 0).blocked = true
	case 4: // another relay settled its predecessor, and does not tell us
		for _, e := range m.rows {
			if e.blocked && m.random.IntN(3) == 0 {
				e.blocked = false
			}
		}
	case 5: // settled
		m.rows = slices.DeleteFunc(m.rows, func(e *entry) bool { return e.claimed && m.random.IntN(2) == 0 })
	case 6:
		m.changeScope()
	default:
		for range 1 + m.random.IntN(12) {
			m.insert(kind, 0, 0)
		}
	}
}

func (m *model) changeScope() {
	m.scope = nil
	for _, kind := range []destination.Type{"A", "B"} {
		switch m.random.IntN(4) {
		case 0:
			m.scope = append(m.scope, claim.TypeScope{Type: kind, Targets: []string{string(rune('x' + m.random.IntN(3)))}})
		case 1:
			m.scope = append(m.scope, claim.TypeScope{Type: kind, All: true, Except: []string{string(rune('x' + m.random.IntN(3)))}})
		default:
			m.scope = append(m.scope, claim.TypeScope{Type: kind, All: true})
		}
	}
}

// TestEveryRowIsFound lets a relay read an index that changes in every way, and
// measures for how long a claimable row goes unclaimed.
func TestEveryRowIsFound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed, Paths{})
			m.busy, m.ahead = true, seed%2 == 1
			for range 700 {
				if m.random.IntN(3) == 0 {
					m.change()
				}
				m.now = m.now.Add(time.Duration(m.random.IntN(40)) * time.Millisecond)
				m.claim()
				m.checkWaits(maxDeep + 10*time.Second)
			}
			m.scope = []claim.TypeScope{{Type: "A", All: true}, {Type: "B", All: true}}
			for end := m.now.Add(2 * maxDeep); m.now.Before(end); m.now = m.now.Add(50 * time.Millisecond) {
				m.claim()
			}
			for _, e := range m.rows {
				if m.claimable(e) {
					t.Errorf("row %d was never found", e.ID)
				}
			}
		})
	}
}

// checkWaits fails when a row could have been claimed for longer than the bound.
func (m *model) checkWaits(bound time.Duration) {
	m.Helper()
	for _, e := range m.rows {
		if !m.claimable(e) || e.visible.After(m.now) || e.Due > m.now.UnixMicro() {
			e.waitSince = time.Time{}
		} else if e.waitSince.IsZero() {
			e.waitSince = m.now
		} else if m.now.Sub(e.waitSince) > bound {
			m.Fatalf("row %d has been claimable for %v", e.ID, m.now.Sub(e.waitSince))
		}
	}
}
