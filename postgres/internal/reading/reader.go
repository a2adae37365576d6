package reading

import (
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

// Paths by which rows are found. A test switches some off to see that another one
// alone is enough for what it is there for.
type Paths struct{ NoTail, NoOverlap, NoSweep bool }

// Tuning of the paths.
const (
	// maxWindow bounds a scan of the tail, and with it a statement that finds nothing.
	maxWindow = 4000
	// shortLag is looked back in every claim: the usual time from insert to commit.
	shortLag = 50 * time.Millisecond
	// longLag is looked back every longLagEvery. A row committed later than that after
	// its insert waits for the sweep.
	longLag      = time.Second
	longLagEvery = 100 * time.Millisecond
	// overlapWindow bounds one look back.
	overlapWindow = 2000
	// The sweep looks at sweepRate rows a second, in windows of at most maxSweep rows.
	sweepEvery = 100 * time.Millisecond
	sweepRate  = 10_000
	maxSweep   = 4000
	// A sweep begins at the first row that the last one found, since a vacuum that is
	// held back leaves the index before it full of dead entries. Now and then it begins
	// at the very start: after deepCost times as long as the last such statement took, so
	// every second as long as there is nothing to wade through.
	minDeep  = time.Second
	maxDeep  = time.Minute
	deepCost = 100
	// sweepShare is the part of the time that may go into statements that sweep.
	sweepShare = 10
)

// Scan is a part of the index to be read.
type Scan struct {
	Type   destination.Type
	From   Point         // exclusive; not used when Lag is set
	To     Point         // inclusive
	Lag    time.Duration // start so far before now
	Window int

	kind kind
	lane *lane
}

type kind int

const (
	tail kind = iota
	overlap
	sweep
)

// Edge says what a scan found.
type Edge struct {
	Rows        int
	First, Last Point
}

// Result says what a claim found.
type Result struct {
	// Edges are by the index of the scan; a scan that found nothing has none.
	Edges map[int]Edge
	// Cut is the last row taken from any scan, if any was.
	Cut *Point
	// Full says that the claim ended at Cut because its limit was reached: rows behind
	// Cut were not considered.
	Full bool
	// Taken is how many rows it took, Limit how many it could have taken, and Left how
	// many more of those that it looked at.
	Taken, Limit, Left int
	// Took is how long the statement ran.
	Took time.Duration
}

// Reader holds the positions of one relay. It has one user at a time.
type Reader struct {
	paths Paths
	lanes map[destination.Type]*lane
}

// NewReader returns a reader that begins at the start of the index.
func NewReader(paths Paths) *Reader {
	return &Reader{paths: paths, lanes: map[destination.Type]*lane{}}
}

// lane is the reading state of one type.
type lane struct {
	scope    claim.TypeScope
	position Point
	begun    []Point // where the tails of claims under way began
	window   int

	overlapAt time.Time // next long look back

	cursor Point // the sweep has come so far
	floor  Point // no unsettled row was before it when it was last looked at
	first  *Point
	sweeping,
	deep bool // a sweep is under way; it began at the very start
	sweepAt, sweptAt, deepAt time.Time
}

// Plan returns what to read for the given types in a claim of at most limit rows.
// Scopes that were widened since the last time are read from the start. Done must
// follow when the claim has ended.
func (r *Reader) Plan(now time.Time, types []claim.TypeScope, limit int) []Scan {
	scans := make([]Scan, 0, 3*len(types))
	for _, scope := range types {
		l := r.lane(scope)
		window, known := max(l.window, limit), l.known()
		if !r.paths.NoTail {
			scans = append(scans, Scan{Type: scope.Type, From: l.position, To: End, Window: window, kind: tail, lane: l})
			l.begun = append(l.begun, l.position)
		}
		if known == Start {
			continue // everything is still ahead of the tail
		}
		if !r.paths.NoOverlap {
			lag := shortLag
			if !now.Before(l.overlapAt) {
				lag, l.overlapAt = longLag, now.Add(longLagEvery)
			}
			scans = append(scans, Scan{Type: scope.Type, To: known, Lag: lag, Window: overlapWindow, kind: overlap, lane: l})
		}
		if !r.paths.NoSweep && !now.Before(l.sweepAt) {
			scans = append(scans, l.sweep(now, known))
		}
	}
	return scans
}

func (r *Reader) lane(scope claim.TypeScope) *lane {
	l := r.lanes[scope.Type]
	switch {
	case l == nil:
		l = &lane{position: Start, cursor: Start, floor: Start}
		r.lanes[scope.Type] = l
	case !sameScope(scope, l.scope) && scope.Widens(l.scope):
		l.position, l.cursor, l.floor, l.sweeping = Start, Start, Start, false
	}
	l.scope = scope
	return l
}

func sameScope(a, b claim.TypeScope) bool {
	return a.All == b.All && slices.Equal(a.Targets, b.Targets) && slices.Equal(a.Except, b.Except)
}

// known returns up to where every claim has ended. After it are rows that a claim under
// way may have just taken: to look at these again would be to wait for it in vain.
func (l *lane) known() Point {
	known := l.position
	for _, p := range l.begun {
		known = minPoint(known, p)
	}
	return known
}

// Done takes in that a claim has ended, well or not.
func (r *Reader) Done(scans []Scan) {
	for _, s := range scans {
		if i := slices.Index(s.lane.begun, s.From); s.kind == tail && i >= 0 {
			s.lane.begun = slices.Delete(s.lane.begun, i, i+1)
		}
	}
}

// sweep returns the next window of the sweep, which ends at known, beginning a new one
// if none is under way.
func (l *lane) sweep(now time.Time, known Point) Scan {
	if !l.sweeping {
		l.sweeping, l.first = true, nil
		l.deep = !now.Before(l.deepAt)
		l.cursor = l.floor
		if l.deep {
			l.cursor, l.deepAt = Start, now.Add(maxDeep)
		}
	}
	window := maxSweep
	if !l.sweptAt.IsZero() {
		window = min(maxSweep, int(now.Sub(l.sweptAt).Seconds()*sweepRate)+1)
	}
	l.sweptAt = now
	return Scan{Type: l.scope.Type, From: l.cursor, To: known, Window: window, kind: sweep, lane: l}
}

// Advance takes in what a claim found and reports whether rows that are due were
// left unread. A claim that fails after that must be undone.
func (r *Reader) Advance(now time.Time, scans []Scan, res Result) (more bool) {
	for i, s := range scans {
		edge, found := res.Edges[i]
		reached, complete := s.To, !found || edge.Rows < s.Window
		if found {
			reached = edge.Last
		}
		if res.Full {
			complete = false
			if res.Cut == nil {
				reached = s.From // nothing of any scan was considered to its end
			} else if found {
				reached = minPoint(reached, *res.Cut)
			}
		}
		switch s.kind {
		case tail:
			more = s.lane.advance(s, edge, reached, found, complete, res) || more
		case sweep:
			s.lane.swept(now, s, edge, reached, found, complete, res.Took)
		case overlap: // leaves no trace
		}
	}
	return more || res.Full
}

// Undo takes back what Advance did for a claim of which it is not known whether its
// transaction committed: what it examined is read again.
func (r *Reader) Undo(scans []Scan) {
	for _, s := range scans {
		switch s.kind {
		case tail:
			s.lane.position = minPoint(s.lane.position, s.From)
		case sweep:
			s.lane.sweeping = false
			s.lane.floor = minPoint(s.lane.floor, s.From)
		}
	}
}

// advance moves the position. Without a row in sight it stays: the tail has no end
// that could be named. It also stays when it was taken back meanwhile.
func (l *lane) advance(s Scan, edge Edge, reached Point, found, complete bool, res Result) (more bool) {
	if l.position.Before(s.From) {
		return true
	}
	if found && l.position.Before(reached) {
		l.position = reached
	}
	switch window := max(l.window, edge.Rows); {
	case complete:
		l.window = 0
	case !res.Full && res.Taken*4 < res.Limit: // few could be taken: look further at once
		l.window = min(maxWindow, 2*window)
	default: // about as far as was needed, and a little further if others take their share
		l.window = window - res.Left/4 + res.Limit - res.Taken
		if l.window > res.Limit {
			l.window = min(maxWindow, l.window+res.Limit/16)
		}
	}
	return !complete
}

// swept moves the sweep's cursor and, at its end, the floor.
func (l *lane) swept(now time.Time, s Scan, edge Edge, reached Point, found, complete bool, took time.Duration) {
	l.sweepAt = now.Add(max(sweepEvery, took*sweepShare))
	if !l.sweeping || s.From != l.cursor {
		return // begun anew since
	}
	if s.From == Start {
		l.deepAt = now.Add(min(maxDeep, max(minDeep, took*deepCost)))
	}
	if found && l.first == nil {
		l.first = &edge.First
	}
	if !complete {
		if l.cursor.Before(reached) {
			l.cursor = reached
		}
		return
	}
	l.sweeping = false
	l.floor = s.To
	if l.first != nil {
		l.floor = l.first.prior()
	}
}
