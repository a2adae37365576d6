package report

import (
	"fmt"
	"math"
)

// Verdict says whether something held.
type Verdict string

// The verdicts.
const (
	Pass        Verdict = "pass"
	Miss        Verdict = "miss"
	NotMeasured Verdict = "not measured"
)

// Check is one thing that must hold, and what was found.
type Check struct {
	What    string
	Bound   string
	Found   string
	Verdict Verdict
}

// atLeast and atMost compare a figure with its bound; NaN means that it was not measured.
func atLeast(what string, got, bound float64, unit string) Check {
	return check(what, "≥", got, bound, unit)
}

func atMost(what string, got, bound float64, unit string) Check {
	return check(what, "≤", got, bound, unit)
}

func check(what, sign string, got, bound float64, unit string) Check {
	c := Check{What: what, Bound: sign + " " + number(bound) + unit, Found: number(got) + unit, Verdict: Pass}
	switch {
	case math.IsNaN(got):
		c.Found, c.Verdict = "", NotMeasured
	case sign == "≥" && got < bound, sign == "≤" && got > bound:
		c.Verdict = Miss
	}
	return c
}

// Checks returns what must hold, in the order in which a reader wants to know.
func (r *Run) Checks() []Check {
	var all []Check
	all = append(all, r.claimChecks()...)
	all = append(all, r.drainChecks()...)
	all = append(all, r.kafkaCheck(),
		atLeast("one hot aggregate, entries in order", r.best("ordered", "satchel", "rate"), 5000, "/s"),
		atLeast("publishing while relays are awake, of no trigger", r.best("publish", "awake", "ratio"), 0.95, "×"),
	)
	all = append(all, r.latencyChecks()...)
	for _, mode := range []string{"KEEP", "DELETE"} {
		free := r.best("snapshot", "satchel", "rate", "mode", mode, "held", "false")
		held := r.best("snapshot", "satchel", "rate", "mode", mode, "held", "true")
		all = append(all, atLeast("drain under an open snapshot, of without ("+mode+")", held/free, 0.8, "×"))
	}
	return append(all, atMost("resident memory of a relay, longest backlog", r.best("memory", "satchel", "resident_mb"), 64, " MB"))
}

// longBacklog is the size at which claims are judged.
const longBacklog = "1000000"

func (r *Run) claimChecks() (all []Check) {
	empty := r.best("claim", "satchel", "median_ms", "shape", "S0", "backlog", longBacklog)
	for _, shape := range []string{"S1", "S2", "S3", "S4", "S5", "S6", "S7"} {
		bound := 2.0
		if shape == "S7" {
			bound = 4
		}
		got := r.best("claim", "satchel", "median_ms", "shape", shape, "backlog", longBacklog)
		all = append(all, atMost("claim behind a million rows of "+shape+", of an empty backlog", got/empty, bound, "×"))
	}
	worst, longest := math.NaN(), math.NaN()
	for _, shape := range []string{"S1", "S2", "S3", "S4", "S5", "S6"} {
		for _, m := range r.Where("claim", "satchel", "shape", shape, "backlog", longBacklog) {
			worst, longest = larger(worst, m.Values["cold_ms"]), larger(longest, m.Values["cold_max_ms"])
		}
	}
	return append(all,
		atMost("cold start past a million rows, worst shape, all statements", worst, 10_000, " ms"),
		atMost("cold start past a million rows, longest statement", longest, 100, " ms"))
}

func (r *Run) drainChecks() (all []Check) {
	river := r.best("drain", "river", "rate", "handler", "0s")
	watermill := r.best("drain", "watermill", "rate", "handler", "0s")
	for _, mode := range []struct {
		name  string
		river float64
	}{{"KEEP", 2}, {"ARCHIVE", 2.5}, {"DELETE", 3.5}} {
		ours := r.best("drain", "satchel", "rate", "mode", mode.name, "handler", "0s")
		ceiling := r.best("drain", "bare loop", "rate", "mode", mode.name, "handler", "0s")
		all = append(all, atLeast("drain "+mode.name+", of River's best", ours/river, mode.river, "×"))
		if mode.name == "DELETE" {
			all = append(all, atLeast("drain "+mode.name+", of watermill-sql's best", ours/watermill, 2, "×"))
		}
		all = append(all, atLeast("drain "+mode.name+", of the bare loop's best", ours/ceiling, 0.85, "×"))
	}
	return all
}

// NoKafka is the series that says why case "kafka" has no figures.
const NoKafka = "not measured: no Kafka"

func (r *Run) kafkaCheck() Check {
	c := atLeast("drain into Kafka, of the lower of a no-op drain and a bare producer", r.best("kafka", "satchel", "ratio"), 0.7, "×")
	if c.Verdict == NotMeasured && len(r.Where("kafka", NoKafka)) > 0 {
		c.Found = "no Kafka"
	}
	return c
}

func (r *Run) latencyChecks() (all []Check) {
	// River's defaults are what its users have; its own benchmark asks for jobs far oftener.
	river := r.best("latency", "river", "p50_ms", "rate", "100", "tuning", "default")
	tuned := r.best("latency", "river", "p50_ms", "rate", "100", "tuning", "tuned")
	for _, from := range []string{"asleep", "awake"} {
		p50 := r.best("latency", "satchel", "p50_ms", "rate", "100", "from", from)
		p99 := r.best("latency", "satchel", "p99_ms", "rate", "100", "from", from)
		all = append(all,
			atMost("commit to handler at 100/s from "+from+", p50", p50, 5, " ms"),
			atMost("commit to handler at 100/s from "+from+", p99", p99, 25, " ms"),
			atMost("commit to handler at 100/s from "+from+", p50, of River's with its defaults", p50/river, 0.2, "×"),
			atMost("commit to handler at 100/s from "+from+", p50, of River's tuned for throughput", p50/tuned, 0.2, "×"))
	}
	return all
}

// best returns the largest value that was measured, or NaN.
func (r *Run) best(name, series, value string, params ...string) float64 {
	if v, ok := Best(r.Where(name, series, params...), value); ok {
		return v
	}
	return math.NaN()
}

// larger ignores NaN where it can.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// number prints a figure with the digits that mean something.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return ""
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
