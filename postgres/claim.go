package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// Claim implements relay.Session. The type whose turn it is has a statement of its
// own; what room it leaves goes to all other types in a second one.
func (s *session) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if req.Scope.Empty() {
		return relay.Batch{}, nil
	}
	reader, retry := s.reader, []string(nil)
	if req.Probe {
		reader = s.probe(req.Scope)
	} else {
		// As many as a claim can settle, so that the queue cannot grow; looking one up is quick,
		// and most have no successor. The statement gives back what it has no room for.
		retry = s.takeSuccessors(max(minSuccessors, 2*req.Limit))
	}
	first, others := split(req)
	c := &claiming{session: s, req: req, reader: reader}
	if err := c.run(ctx, first, retry); err != nil {
		s.returnSuccessors(retry)
		return relay.Batch{}, err
	}
	if len(others) > 0 && len(c.batch.Records) < req.Limit {
		if err := c.run(ctx, others, nil); err != nil {
			if len(c.batch.Records) == 0 {
				return relay.Batch{}, err
			}
			c.batch.More = true // what the first statement claimed is ours all the same
		}
	}
	if c.bumped {
		s.notify(ctx)
	}
	if len(c.strays) > 0 {
		s.giveBack(ctx, c.strays)
	}
	c.batch.More = c.batch.More || !req.Probe && s.hasSuccessors()
	return c.batch, nil
}

// split separates the type whose turn it is from the others.
func split(req relay.ClaimRequest) (first, others []claim.TypeScope) {
	for _, ts := range req.Scope.Types() {
		if req.First == "" || ts.Type == req.First {
			first = append(first, ts)
		} else {
			others = append(others, ts)
		}
	}
	if len(first) == 0 {
		return others, nil
	}
	return first, others
}

// probe returns the reader of a single destination: looking for one entry of it must
// not move the positions of ordinary claims, nor begin anew each time.
func (s *session) probe(scope claim.Snapshot) *reading.Reader {
	const forgetAbove = 1000
	ts := scope.Types()[0]
	key := string(ts.Type) + "/" + ts.Targets[0]
	if s.probes[key] == nil {
		if len(s.probes) >= forgetAbove {
			clear(s.probes)
		}
		s.probes[key] = reading.NewReader(s.cfg.paths)
	}
	return s.probes[key]
}

func (s *session) takeSuccessors(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recheck.take(n)
}

func (s *session) returnSuccessors(aggregates []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range aggregates {
		s.recheck.add(a)
	}
}

func (s *session) hasSuccessors() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.recheck.queue) > 0
}

// claiming is one call of Claim.
type claiming struct {
	*session
	req    relay.ClaimRequest
	reader *reading.Reader
	batch  relay.Batch
	bumped bool
	strays []relay.Outcome // claimed, but not to be delivered
}

// claimMeta is what the claim statement says about itself.
type claimMeta struct {
	Lease  *int64     `json:"lease"`
	Scans  [][6]int64 `json:"scans"`
	Cut    *[2]int64  `json:"cut"`
	Heads  int        `json:"heads"`
	Bumped int        `json:"bumped"`
	Again  []string   `json:"again"`

	// ids are the entries in the order of delivery, runs tells to which run each belongs.
	ids, runs []int64
}

// claimedRows are the entries that a claim statement returned.
type claimedRows struct {
	records []outbox.Record
	at      map[int64]int // by id
}

func (c *claimedRows) add(r outbox.Record) {
	c.at[int64(r.ID)] = len(c.records)
	c.records = append(c.records, r)
}

// run executes the claim statement for some of the types.
func (c *claiming) run(ctx context.Context, types []claim.TypeScope, retry []string) error {
	began := time.Now()
	limit := c.req.Limit - len(c.batch.Records)
	scans := c.reader.Plan(began, types, limit)
	args := claimArgs(scans, c.req.Scope)
	args = append(args, retry, limit, min(c.req.RunLength, limit), c.opts.Owner, c.req.Lease.Microseconds(), c.lease())
	var meta claimMeta
	rows := claimedRows{at: make(map[int64]int, limit), records: make([]outbox.Record, 0, limit)}
	err := c.Store.batch(ctx, "relay.claim", func(b *pgx.Batch) {
		b.Queue(c.stmt.Claim, args...).Query(func(r pgx.Rows) error { return readClaim(r, &meta, &rows) })
	})
	if err != nil {
		return err
	}
	if meta.Lease == nil && meta.Heads > 0 {
		// The lease of the first statement was taken back before this one could add to it.
		c.batch.More = true
		return nil
	}
	result := meta.result(limit)
	result.Took = time.Since(began)
	more := c.reader.Advance(time.Now(), scans, result)
	c.batch.More = more || c.batch.More
	c.bumped = c.bumped || meta.Bumped > 0
	c.returnSuccessors(meta.Again)
	if meta.Lease != nil {
		c.batch.Lease = relay.LeaseID(*meta.Lease)
	}
	c.collect(&meta, &rows)
	return nil
}

// lease returns the lease to add to, or nil for a new one.
func (c *claiming) lease() *int64 {
	if c.batch.Lease == 0 {
		return nil
	}
	id := int64(c.batch.Lease)
	return &id
}

// collect appends the claimed records in the order of delivery. A run is kept up to
// the first of its entries that was not claimed after all, because it changed while
// the statement waited for its lock; those after it must not be delivered.
func (c *claiming) collect(meta *claimMeta, rows *claimedRows) {
	if c.batch.Records == nil {
		c.batch.Records = make([]outbox.Record, 0, len(rows.records))
	}
	broken := int64(0) // runs are numbered from 1
	for i, id := range meta.ids {
		at, ok := rows.at[id]
		switch {
		case !ok:
			broken = meta.runs[i]
		case broken == meta.runs[i]:
			r := &rows.records[at]
			c.strays = append(c.strays, relay.Outcome{
				ID: r.ID, Lease: c.batch.Lease, Kind: relay.ReleasedBehind, AggregateID: r.AggregateID,
			})
		default:
			c.batch.Records = append(c.batch.Records, rows.records[at])
		}
	}
}

// giveBack returns strays. If that fails, their lease expires.
func (s *session) giveBack(ctx context.Context, strays []relay.Outcome) {
	_, _ = s.Settle(ctx, strays, nil)
}

// result translates what the statement said for the reader.
func (m *claimMeta) result(limit int) reading.Result {
	r := reading.Result{Edges: make(map[int]reading.Edge, len(m.Scans)), Full: m.Heads >= limit}
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

// claimArgs returns the parameters that describe what is read and what is allowed.
func claimArgs(scans []reading.Scan, scope claim.Snapshot) []any {
	n := len(scans)
	types, fromDue, fromID := make([]string, n), make([]string, n), make([]int64, n)
	toDue, toID, lags, windows := make([]string, n), make([]int64, n), make([]int64, n), make([]int32, n)
	for i, s := range scans {
		types[i], windows[i], lags[i] = string(s.Type), int32(s.Window), s.Lag.Microseconds()
		fromDue[i], fromID[i] = s.From.Timestamp(), s.From.ID
		toDue[i], toID[i] = s.To.Timestamp(), s.To.ID
	}
	all := []string{}
	exceptTypes, exceptNames, targetTypes, targetNames := []string{}, []string{}, []string{}, []string{}
	for _, ts := range scope.Types() {
		t := string(ts.Type)
		if !ts.All {
			for _, name := range ts.Targets {
				targetTypes, targetNames = append(targetTypes, t), append(targetNames, name)
			}
			continue
		}
		all = append(all, t)
		for _, name := range ts.Except {
			exceptTypes, exceptNames = append(exceptTypes, t), append(exceptNames, name)
		}
	}
	return []any{types, fromDue, fromID, toDue, toID, lags, windows, all, exceptTypes, exceptNames, targetTypes, targetNames}
}

// readClaim reads the rows of the claim statement.
func readClaim(rows pgx.Rows, meta *claimMeta, claimed *claimedRows) error {
	defer rows.Close()
	row := newRow()
	for rows.Next() {
		if err := rows.Scan(row.targets()...); err != nil {
			return err
		}
		if row.meta == nil {
			claimed.add(row.record())
			continue
		}
		if err := json.Unmarshal(row.meta, meta); err != nil {
			return err
		}
		meta.ids, meta.runs = row.ids, row.runs
	}
	return rows.Err()
}
