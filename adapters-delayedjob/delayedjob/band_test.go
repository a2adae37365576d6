package delayedjob

import (
	"maps"
	"math"
	"testing"
	"testing/quick"
)

func TestDefaultBands(t *testing.T) {
	t.Parallel()
	for priority, want := range map[int]string{
		math.MinInt: "mail:low", -7: "mail:low", -1: "mail:low",
		0: "mail", 1: "mail:high", 9: "mail:high", math.MaxInt: "mail:high",
	} {
		if got := DefaultBands().Queue("mail", priority); got != want {
			t.Errorf("priority %d goes to %q, want %q", priority, got, want)
		}
	}
	want := map[string]int{"a:high": 6, "a": 3, "a:low": 1, "b:high": 6, "b": 3, "b:low": 1}
	if got := Queues("a", "b"); !maps.Equal(got, want) {
		t.Errorf("queues are %v, want %v", got, want)
	}
	if got := Bands(nil).Queues("a", "b"); !maps.Equal(got, want) {
		t.Errorf("queues of no bands are %v, want %v", got, want)
	}
	if got := (Bands{}).Queue("mail", 3); got != "mail" {
		t.Errorf("without bands the queue is %q", got)
	}
}

// Whatever the priority and the order of the bands, a job goes to a queue that a
// server with Queues works off, and a higher priority never to a lower band.
func TestBandsCoverEveryPriority(t *testing.T) {
	t.Parallel()
	bands := Bands{{Min: 10, Suffix: ".b", Weight: 2}, {Min: -50, Suffix: ".a", Weight: 1}, {Min: 1000, Suffix: ".c", Weight: 9}}
	rank := map[string]int{"q.a": 0, "q.b": 1, "q.c": 2}
	queues := bands.Queues("q")
	property := func(p, q int32) bool {
		low, high := bands.Queue("q", int(min(p, q))), bands.Queue("q", int(max(p, q)))
		return queues[low] > 0 && queues[high] > 0 && rank[low] <= rank[high]
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
	for priority, want := range map[int]string{-51: "q.a", 9: "q.a", 10: "q.b", 999: "q.b", 1000: "q.c"} {
		if got := bands.Queue("q", priority); got != want {
			t.Errorf("priority %d goes to %q, want %q", priority, got, want)
		}
	}
}

func TestBandsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bands Bands
		text  string
	}{
		"empty":       {Bands{}, "bands are empty"},
		"same min":    {Bands{{0, "", 1}, {0, ".x", 1}}, "band 1: min"},
		"same suffix": {Bands{{0, "", 1}, {1, "", 1}}, "band 1: suffix is used"},
		"brace":       {Bands{{0, "{", 1}}, "band 0: suffix has a brace"},
		"no weight":   {Bands{{0, "", 0}}, "band 0: weight"},
	} {
		err := c.bands.validate()
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		wantText(t, err, c.text)
	}
	if err := DefaultBands().validate(); err != nil {
		t.Error(err)
	}
}
