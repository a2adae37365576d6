package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// reply is what one claim statement answers.
type reply struct {
	*claiming
	limit    int
	last     bool // no other statement of the claim can follow
	types    []claim.TypeScope
	turn     turn
	came     bool // it was its turn
	began    time.Time
	scans    []reading.Scan
	meta     claimMeta
	examined bool // the reader knows
	records  []outbox.Record
}

// claimMeta is what the claim statement says about itself.
type claimMeta struct {
	Lease      *int64     `json:"lease"`
	Scans      [][6]int64 `json:"scans"`
	Cut        *[2]int64  `json:"cut"`
	Heads      int        `json:"heads"`
	Picked     int        `json:"picked"`
	Candidates [2]int     `json:"candidates"`
	Bumped     int        `json:"bumped"`
	Again      []string   `json:"again"`
}

// read takes the rows in. What the statement says about itself comes first, before the
// entries are on their way: another claim can go on from there.
func (r *reply) read(rows pgx.Rows) error {
	defer rows.Close()
	row := newRow()
	r.records = make([]outbox.Record, 0, r.limit)
	for rows.Next() {
		if err := rows.Scan(row.targets()...); err != nil {
			return err
		}
		if row.meta == nil {
			r.records = append(r.records, row.record())
			continue
		}
		if err := json.Unmarshal(row.meta, &r.meta); err != nil {
			return err
		}
		r.advance()
	}
	return rows.Err()
}

// advance tells the reader what was examined.
func (r *reply) advance() {
	if r.examined = true; r.leaseGone() {
		r.batch.More = true
		return
	}
	result := r.meta.result(r.limit)
	result.Took = time.Since(r.began)
	r.mu.Lock()
	more := r.reader.Advance(time.Now(), r.scans, result)
	r.mu.Unlock()
	r.batch.More = more || r.batch.More
	if r.meta.Candidates[1]-r.meta.Heads > r.limit/4 { // locked or changed by others
		r.turns.met(time.Now())
	}
	if !r.req.Probe {
		r.turns.left(r.batch.More)
	}
	if r.turn == ownTurn {
		return // a claim ahead would have to wait
	}
	if r.req.Ahead != nil && r.meta.Picked == r.limit && (r.last || r.limit == r.req.Limit) {
		r.req.Ahead()
	}
}

// leaseGone reports that the lease of the first statement was taken back before this
// one could add to it: then nothing was claimed.
func (r *reply) leaseGone() bool { return r.meta.Lease == nil && r.meta.Heads > 0 }

// undo is called when it is not known whether the transaction committed.
func (r *reply) undo() {
	if !r.examined || r.leaseGone() {
		return
	}
	r.mu.Lock()
	r.reader.Undo(r.scans)
	r.mu.Unlock()
}

// finish adds what the statement claimed to the batch.
func (r *reply) finish(ctx context.Context) error {
	if r.leaseGone() {
		return nil
	}
	r.bumped = r.bumped || r.meta.Bumped > 0
	r.returnSuccessors(r.meta.Again)
	if r.meta.Lease != nil {
		r.batch.Lease = relay.LeaseID(*r.meta.Lease)
	}
	if r.batch.Records == nil {
		r.batch.Records = make([]outbox.Record, 0, len(r.records))
	}
	if len(r.records) < r.meta.Picked {
		if err := r.dropStrays(ctx); err != nil {
			return err
		}
	}
	sortForDelivery(r.records, r.meta.Heads < r.meta.Picked)
	r.batch.Records = append(r.batch.Records, r.records...)
	return nil
}

// dropStrays cuts each run where an entry was not claimed after all, because it changed
// while the statement waited for its lock: those after it must not be delivered.
func (r *reply) dropStrays(ctx context.Context) error {
	missing := map[string]outbox.ID{} // by aggregate, the first
	var id outbox.ID
	var aggregate string
	err := r.Store.batch(ctx, "relay.strays", func(b *pgx.Batch) {
		b.Queue(r.stmt.Strays, *r.meta.Lease).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&id, &aggregate}, func() error {
				if first, ok := missing[aggregate]; !ok || id < first {
					missing[aggregate] = id
				}
				return nil
			})
			return err
		})
	})
	if err != nil {
		return err // the lease expires
	}
	r.records = slices.DeleteFunc(r.records, func(rec outbox.Record) bool {
		first, ok := missing[rec.AggregateID]
		if !ok || rec.ID < first {
			return false
		}
		r.strays = append(r.strays, relay.Outcome{
			ID: rec.ID, Lease: r.batch.Lease, Kind: relay.ReleasedBehind, AggregateID: rec.AggregateID,
		})
		return true
	})
	return nil
}

// sortForDelivery puts the oldest due first, and the entries of one aggregate, if any
// has several, in their order right after its first.
func sortForDelivery(records []outbox.Record, runs bool) {
	if !runs {
		for i := range max(0, len(records)-1) {
			if byDue(&records[i], &records[i+1]) > 0 { // records are large: they are not moved in vain
				slices.SortFunc(records, func(a, b outbox.Record) int { return byDue(&a, &b) })
				return
			}
		}
		return
	}
	slices.SortFunc(records, func(a, b outbox.Record) int { return cmp.Compare(a.ID, b.ID) })
	heads := make(map[string]*outbox.Record)
	for i := range records {
		if a := records[i].AggregateID; a != "" && heads[a] == nil {
			head := records[i]
			heads[a] = &head
		}
	}
	head := func(r *outbox.Record) *outbox.Record {
		if r.AggregateID != "" {
			return heads[r.AggregateID]
		}
		return r
	}
	slices.SortStableFunc(records, func(a, b outbox.Record) int { return byDue(head(&a), head(&b)) })
}

func byDue(a, b *outbox.Record) int {
	return cmp.Or(due(a).Compare(due(b)), cmp.Compare(a.ID, b.ID))
}

// due returns when an entry became due.
func due(r *outbox.Record) time.Time {
	if r.ScheduledAt.After(r.AvailableAt) {
		return r.ScheduledAt
	}
	return r.AvailableAt
}

// result translates what the statement said for the reader.
func (m *claimMeta) result(limit int) reading.Result {
	r := reading.Result{Edges: make(map[int]reading.Edge, len(m.Scans)), Full: m.Heads >= limit, Taken: m.Heads, Limit: limit, Left: m.Candidates[0] - m.Candidates[1]}
	for _, s := range m.Scans {
		r.Edges[int(s[0])-1] = reading.Edge{
			Rows:  int(s[1]),
			First: reading.Point{Due: s[2], ID: s[3]},
			Last:  reading.Point{Due: s[4], ID: s[5]},
		}
	}
	if m.Cut != nil {
		r.Cut = &reading.Point{Due: m.Cut[0], ID: m.Cut[1]}
	}
	return r
}
