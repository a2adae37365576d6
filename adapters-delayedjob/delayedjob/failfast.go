package delayedjob

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// DefaultDialTimeout is the dial timeout that [FailFast] sets when none is given.
const DefaultDialTimeout = time.Second

// FailFast returns options for the client of a [Handler]. Left to itself go-redis
// tries every command four times and every connection five times, and looks at no
// deadline of a context while it reads: behind a relay, which retries on its own
// terms, that only holds a slot. So nothing is retried, a deadline is obeyed, and a
// connection is given up after DialTimeout, or after [DefaultDialTimeout] if that is
// 0. Everything else is kept. A context that is cancelled without a deadline ends a
// running command no sooner than ReadTimeout (3 s unless set). The options of a
// cluster or a sentinel client have fields of the same names.
func FailFast(o redis.Options) redis.Options {
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	if o.DialTimeout == 0 {
		o.DialTimeout = DefaultDialTimeout
	}
	return o
}
