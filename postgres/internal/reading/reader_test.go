package reading

import (
	"math"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
)

// drain claims until a claim says that nothing is left, and returns how many were taken.
func (m *model) drain() (taken, claims int) {
	m.Helper()
	for more := true; more; claims++ {
		if claims > 10_000 {
			m.Fatal("ten thousand claims, and still more")
		}
		var got []*entry
		got, more = m.claim()
		taken += len(got)
	}
	return taken, claims
}

func TestTailAlone(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true, NoSweep: true})
	for range 50 {
		m.insert("A", 0, 0)
		m.insert("B", 0, 0)
	}
	if taken, _ := m.drain(); taken != 100 {
		t.Errorf("took %d rows, want 100", taken)
	}
	m.now = m.now.Add(time.Second)
	m.insert("A", 0, 0)
	late := m.insert("A", -10*time.Millisecond, 0)
	m.claim()
	m.insert("A", -20*time.Millisecond, 0)
	if taken, _ := m.drain(); taken != 0 || !late.claimed {
		t.Errorf("the tail took %d rows behind its position", taken)
	}
}

func TestOverlapAlone(t *testing.T) {
	t.Parallel()
	for _, commit := range []time.Duration{20 * time.Millisecond, 800 * time.Millisecond} {
		m := newModel(t, 1, Paths{NoSweep: true})
		m.insert("A", 0, 0)
		m.now = m.now.Add(time.Second)
		late := m.insert("A", 0, commit)
		m.now = m.now.Add(time.Millisecond)
		m.insert("A", 0, 0)
		for end := m.now.Add(commit + longLagEvery); m.now.Before(end); m.now = m.now.Add(10 * time.Millisecond) {
			m.claim()
		}
		if m.claim(); !late.claimed {
			t.Errorf("a row committed %v late was not found", commit)
		}
	}
}

func TestSweepAlone(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true})
	m.insert("A", 0, 0)
	m.claim()
	old := []*entry{m.insert("A", -time.Hour, 0), m.insert("A", 0, 5*time.Second)}
	m.now = m.now.Add(time.Second)
	m.insert("A", 0, 0)
	for end := m.now.Add(maxDeep + time.Second); m.now.Before(end); m.now = m.now.Add(100 * time.Millisecond) {
		m.claim()
	}
	for _, e := range old {
		if !e.claimed {
			t.Errorf("row %d behind the position was not found", e.ID)
		}
	}
}

// TestSweepBeginsAtTheFirstRow: a row that was there at the last sweep is looked at
// again in every sweep, not only in those that begin at the very start.
func TestSweepBeginsAtTheFirstRow(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true})
	waiting := m.insert("A", 0, 0)
	waiting.blocked = true
	m.now = m.now.Add(time.Millisecond)
	m.insert("A", 0, 0)
	for end := m.now.Add(5 * time.Second); m.now.Before(end); m.now = m.now.Add(50 * time.Millisecond) {
		m.claim()
	}
	waiting.blocked = false
	for end := m.now.Add(time.Second); m.now.Before(end); m.now = m.now.Add(50 * time.Millisecond) {
		m.claim()
	}
	if !waiting.claimed {
		t.Error("a row whose predecessor was settled elsewhere was not found within a second")
	}
}

func TestWideningStartsAnew(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true, NoSweep: true})
	for range 30 {
		m.insert("A", 0, 0)
	}
	m.scope = []claim.TypeScope{{Type: "A", Targets: []string{"x"}}}
	taken, _ := m.drain()
	narrow := taken
	m.scope = []claim.TypeScope{{Type: "A", Targets: []string{"x", "y"}}}
	taken, _ = m.drain()
	m.scope = []claim.TypeScope{{Type: "A", Targets: []string{"y"}}} // narrower: nothing is read again
	position := m.reader.lanes["A"].position
	if m.claim(); m.reader.lanes["A"].position != position {
		t.Error("a narrower scope moved the position")
	}
	m.scope = []claim.TypeScope{{Type: "A", All: true}}
	rest, _ := m.drain()
	if narrow == 0 || taken == 0 || rest == 0 || narrow+taken+rest != 30 {
		t.Errorf("took %d, %d and %d rows, want all 30", narrow, taken, rest)
	}
}

// TestForeignRowsArePassedOnce: a backlog that is not for this relay costs a number
// of claims that grows with its logarithm first, and nothing later.
func TestForeignRowsArePassedOnce(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true, NoSweep: true})
	for range 30_000 {
		m.insert("A", 0, 0).blocked = true
	}
	wanted := m.insert("A", 0, 0)
	if _, claims := m.drain(); !wanted.claimed || claims > 30 {
		t.Errorf("%d claims to pass 30000 rows, found: %v", claims, wanted.claimed)
	}
	m.now = m.now.Add(time.Second)
	m.insert("A", 0, 0)
	if taken, claims := m.drain(); taken != 1 || claims != 1 {
		t.Errorf("took %d rows in %d claims afterwards", taken, claims)
	}
}

func TestFailedClaimMovesNothing(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true, NoSweep: true})
	for range 20 {
		m.insert("A", 0, 0)
	}
	for range 5 {
		m.reader.Done(m.reader.Plan(m.now, m.scope, m.limit)) // and no Advance
	}
	if taken, _ := m.drain(); taken != 20 {
		t.Errorf("took %d rows, want 20", taken)
	}
}

// TestClaimsUnderWayAreNotLookedAt: nothing that a claim under way has taken is read
// again before it has ended. The next claim would find these rows locked.
func TestClaimsUnderWayAreNotLookedAt(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{})
	for range 40 {
		m.insert("A", 0, 0)
	}
	m.claim()
	first := m.reader.Plan(m.now, m.scope, m.limit)
	taken, _, result := m.take(first)
	m.reader.Advance(m.now, first, result)
	m.now = m.now.Add(longLagEvery)
	before := taken[0].Point
	for _, s := range m.reader.Plan(m.now, m.scope, m.limit) {
		switch {
		case s.Type != "A":
		case s.kind == tail && s.From != taken[len(taken)-1].Point:
			t.Errorf("the next claim begins after %v", s.From)
		case s.kind != tail && !s.To.Before(before):
			t.Errorf("a look back reads up to %v, into what a claim under way has taken from %v on", s.To, before)
		}
	}
	m.reader.Done(first)
	m.now = m.now.Add(longLagEvery)
	looked := 0
	for _, s := range m.reader.Plan(m.now, m.scope, m.limit) {
		if s.Type == "A" && s.kind != tail && before.Before(s.To) {
			looked++
		}
	}
	if looked == 0 {
		t.Error("what a claim took is not looked at again after its end")
	}
}

func TestPointText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		due  int64
		want string
	}{
		{math.MinInt64, "-infinity"},
		{math.MaxInt64, "infinity"},
		{0, "1970-01-01T00:00:00.000000Z"},
		{1_700_000_000_123_456, "2023-11-14T22:13:20.123456Z"},
		{-1, "1969-12-31T23:59:59.999999Z"},
	} {
		if got := (Point{Due: c.due}).Timestamp(); got != c.want {
			t.Errorf("%d is written %s, want %s", c.due, got, c.want)
		}
	}
}

// TestWindowFollowsWhatOthersTake: of two relays that take turns with a backlog, each
// finds its share behind that of the other. Hardly a claim finds less than its limit,
// and none looks much further than it has to.
func TestWindowFollowsWhatOthersTake(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Paths{NoOverlap: true, NoSweep: true})
	m.limit = 100
	other := NewReader(m.reader.paths)
	for range 20_000 {
		m.insert("A", 0, 0)
	}
	claims, taken := 0, 0
	for range 90 {
		for range 2 {
			m.reader, other = other, m.reader
			got, _ := m.claim()
			claims, taken = claims+1, taken+len(got)
			if w := m.reader.lanes["A"].window; w > 3*m.limit {
				t.Fatalf("looks at %d rows", w)
			}
		}
	}
	if taken < claims*m.limit*95/100 {
		t.Errorf("%d claims took %d rows, want nearly %d", claims, taken, claims*m.limit)
	}
}
