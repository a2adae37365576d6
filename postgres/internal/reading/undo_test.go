package reading

import (
	"fmt"
	"testing"
	"time"
)

// TestUndoneClaimIsReadAgain: claims overlap, and the transaction of some comes to
// nothing after the next has been planned behind it. No row may be left behind: the
// tail alone finds them all.
func TestUndoneClaimIsReadAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed, Paths{NoOverlap: true, NoSweep: true})
			for range 200 {
				m.insert("A", 0, 0)
				m.insert("B", 0, 0)
			}
			for failures := 0; failures < 30; failures++ {
				first := m.reader.Plan(m.now, m.scope, m.limit)
				took := m.answer(first)
				if m.random.IntN(2) == 0 {
					m.claim() // another, planned behind the first
					m.abandon(first, took)
				} else { // another that is answered after the first has failed
					second := m.reader.Plan(m.now, m.scope, m.limit)
					m.abandon(first, took)
					m.answer(second)
				}
				m.now = m.now.Add(time.Millisecond)
			}
			m.drain()
			for _, e := range m.rows {
				if !e.claimed {
					t.Errorf("row %d was never found", e.ID)
				}
			}
		})
	}
}

// answer does what the statement of a plan does.
func (m *model) answer(scans []Scan) (taken []*entry) {
	taken, _, result := m.take(scans)
	m.reader.Advance(m.now, scans, result)
	m.reader.Done(scans)
	return taken
}

// abandon rolls a claim back.
func (m *model) abandon(scans []Scan, taken []*entry) {
	for _, e := range taken {
		e.claimed = false
	}
	m.reader.Undo(scans)
	m.reader.Done(scans)
}
