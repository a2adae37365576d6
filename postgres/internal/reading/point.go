// Package reading decides which part of the due-ordered index a relay reads next.
//
// The index is read like a log. What becomes due becomes due at its tail, so a row
// that was looked at once, whatever it was, need not be looked at again; the relay
// keeps, for each destination type, the position up to which it has looked. What can
// become claimable behind the position has paths of its own: a row that was committed
// late is in the overlap, anything else is found by the sweep. (The successors of
// settled rows, and rows that come back, are the store's business: they are looked up
// by their aggregate or moved to the tail.)
//
// Positions are an optimisation only. Nothing that is claimed is claimed because of
// a position, so a wrong one costs time and never order.
package reading

import (
	"math"
	"time"
)

// Point is a place in the due-ordered index of one type.
type Point struct {
	Due int64 // microseconds since 1970; math.MinInt64 is before everything
	ID  int64
}

// The ends of the index.
var (
	Start = Point{Due: math.MinInt64}
	End   = Point{Due: math.MaxInt64}
)

// Before reports whether p comes before q.
func (p Point) Before(q Point) bool { return p.Due < q.Due || p.Due == q.Due && p.ID < q.ID }

// prior is the point just before p.
func (p Point) prior() Point { return Point{Due: p.Due, ID: p.ID - 1} }

// Timestamp returns the due time as PostgreSQL reads it.
func (p Point) Timestamp() string {
	switch p.Due {
	case math.MinInt64:
		return "-infinity"
	case math.MaxInt64:
		return "infinity"
	}
	return time.UnixMicro(p.Due).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func minPoint(p, q Point) Point {
	if q.Before(p) {
		return q
	}
	return p
}
