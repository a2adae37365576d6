package relay

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// jitterShare is the part of a delay that is random: entries that fail together
// must not come back together.
const jitterShare = 0.25

// maxRetryAfter bounds the wait that a destination may ask for.
const maxRetryAfter = time.Hour

// Backoff returns the delay before the attempt that follows the given number of
// failed ones: base doubled with each, capped at limit, less a random part of up to a
// quarter that random, in [0, 1), selects. It is never longer than limit, never
// zero, and cannot overflow. failed below 1 counts as 1.
func Backoff(base, limit time.Duration, failed int, random float64) time.Duration {
	delay := min(max(base, 1), max(limit, 1))
	for i := 1; i < failed && delay < limit; i++ {
		if delay > limit/2 {
			delay = limit
			break
		}
		delay *= 2
	}
	return max(1, delay-time.Duration(float64(delay)*jitterShare*random))
}

// retryDelay is the wait after a retryable failure.
func (c *Config) retryDelay(failed int, asked time.Duration) time.Duration {
	own := Backoff(c.BackoffBase, c.BackoffMax, failed, rand.Float64())
	return max(own, min(asked, max(c.BackoffMax, maxRetryAfter)))
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }
