package kafkainbox

import (
	"math"
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	t.Parallel()
	r := &run[any]{cfg: Config[any]{MinBackoff: 100 * time.Millisecond, MaxBackoff: 30 * time.Second}}
	for _, c := range []struct {
		failures int
		asked    time.Duration
		want     time.Duration
	}{
		{0, 0, 100 * time.Millisecond},
		{1, 0, 200 * time.Millisecond},
		{3, 0, 800 * time.Millisecond},
		{9, 0, 30 * time.Second},
		{29, 0, 30 * time.Second},
		{30, 0, 30 * time.Second},
		{math.MaxInt, 0, 30 * time.Second},
		{0, time.Minute, time.Minute},
		{0, time.Millisecond, 100 * time.Millisecond},
		{0, 240 * time.Hour, time.Hour},
	} {
		if got := r.pause(c.failures, c.asked); got != c.want {
			t.Errorf("pause after %d failures, asked for %v: %v, want %v", c.failures, c.asked, got, c.want)
		}
	}
	r.cfg.MinBackoff = math.MaxInt64 / 2 // overflows with the second failure
	if got := r.pause(2, 0); got != 30*time.Second {
		t.Errorf("pause %v overflowed", got)
	}
}
