package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgerr"
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
	if err := c.run(ctx, first, retry, len(others) == 0); err != nil {
		s.returnSuccessors(retry)
		return relay.Batch{}, err
	}
	if len(others) > 0 && len(c.batch.Records) < req.Limit {
		if err := c.run(ctx, others, nil, true); err != nil {
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
	s.mu.Lock()
	defer s.mu.Unlock()
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

// run executes the claim statement for some of the types; last says that no other
// statement can follow.
func (c *claiming) run(ctx context.Context, types []claim.TypeScope, retry []string, last bool) error {
	r := &reply{claiming: c, types: types, limit: c.req.Limit - len(c.batch.Records), began: time.Now(), last: last}
	if !c.req.Probe {
		r.turn = c.turns.wanted(r.began)
	}
	c.mu.Lock()
	r.scans = c.reader.Plan(r.began, types, r.limit)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reader.Done(r.scans)
	}()
	args := claimArgs(r.scans, c.req.Scope)
	args = append(args, retry, r.limit, min(c.req.RunLength, r.limit), c.opts.Owner, c.req.Lease.Microseconds(), c.lease())
	err := c.ask(ctx, r, args)
	if r.turn != noTurn && !r.came && pgerr.Code(err) == pgerr.LockNotAvailable {
		c.turns.overdue(time.Now())
		r.turn = noTurn
		err = c.ask(ctx, r, args)
	}
	if err == nil {
		err = r.finish(ctx)
	}
	if err != nil {
		r.undo()
	}
	return err
}

// ask executes the claim statement once.
func (c *claiming) ask(ctx context.Context, r *reply, args []any) error {
	return c.Store.batch(ctx, "relay.claim", func(b *pgx.Batch) {
		if r.turn != noTurn {
			c.queueTurn(b, r.turn, r.types, func(t turn) { r.turn, r.came = t, true })
		}
		b.Queue(c.stmt.Claim, args...).Query(r.read)
	})
}

// lease returns the lease to add to, or nil for a new one.
func (c *claiming) lease() *int64 {
	if c.batch.Lease == 0 {
		return nil
	}
	id := int64(c.batch.Lease)
	return &id
}

// giveBack returns strays. If that fails, their lease expires.
func (s *session) giveBack(ctx context.Context, strays []relay.Outcome) {
	_, _ = s.Settle(ctx, strays, nil)
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
