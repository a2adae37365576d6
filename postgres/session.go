package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// session is one relay's working memory. What it remembers saves time; losing it
// loses nothing.
type session struct {
	*Store
	opts relay.SessionOptions

	turns   turns
	mu      sync.Mutex
	reader  *reading.Reader            // guarded by mu
	probes  map[string]*reading.Reader // by destination, for claims that probe; guarded by mu
	recheck successors                 // guarded by mu
	scopes  string                     // what the registry was told last; guarded by mu
}

var (
	_ relay.Session   = (*session)(nil)
	_ relay.TxSession = (*session)(nil)
	_ relay.Registrar = (*session)(nil)
)

// Open implements relay.Store.
func (s *Store) Open(o relay.SessionOptions) relay.Session {
	if o.OnPublished == "" {
		o.OnPublished = relay.Keep
	}
	return &session{Store: s, opts: o, reader: reading.NewReader(s.cfg.paths), probes: map[string]*reading.Reader{}}
}

// Renew implements relay.Session.
func (s *session) Renew(ctx context.Context, leases []relay.LeaseID, lease time.Duration) (lost []relay.LeaseID, err error) {
	ids := make([]int64, len(leases))
	gone := make(map[int64]bool, len(leases))
	for i, id := range leases {
		ids[i] = int64(id)
		gone[int64(id)] = true
	}
	err = s.batch(ctx, "relay.renew", func(b *pgx.Batch) {
		b.Queue(s.stmt.LeaseRenew, ids, lease.Microseconds()).Query(func(rows pgx.Rows) error {
			return eachID(rows, func(id int64) { delete(gone, id) })
		})
	})
	if err != nil {
		return nil, err
	}
	for _, id := range leases {
		if gone[int64(id)] {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// NextDue implements relay.Session.
func (s *session) NextDue(ctx context.Context, scope claim.Snapshot) (wait time.Duration, ok bool, err error) {
	types := make([]string, 0, len(scope.Types()))
	for _, ts := range scope.Types() {
		types = append(types, string(ts.Type))
	}
	var micros *int64
	err = s.batch(ctx, "relay.nextDue", func(b *pgx.Batch) {
		b.Queue(s.stmt.NextDue, types).QueryRow(func(row pgx.Row) error { return row.Scan(&micros) })
	})
	if err != nil || micros == nil {
		return 0, false, err
	}
	const longest = int64(relay.MaxDuration / time.Microsecond)
	return time.Duration(max(0, min(*micros, longest))) * time.Microsecond, true, nil
}
