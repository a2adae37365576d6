package report_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmarks/report"
)

func m(name, series string, value string, figure float64, params ...string) report.Measurement {
	var p map[string]string
	if len(params) > 0 {
		p = map[string]string{}
	}
	for i := 0; i+1 < len(params); i += 2 {
		p[params[i]] = params[i+1]
	}
	return report.Measurement{Case: name, Series: series, Params: p, Values: map[string]float64{value: figure}}
}

// everything is a run in which each bound is met exactly.
func everything() *report.Run {
	r := &report.Run{
		Began: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), Took: "5m", Command: []string{"bench", "-peers"}, Scale: "short",
		Machine:  report.Machine{CPU: "a | b", Cores: 2, Memory: "8 GB", OS: "Linux", Load: "0.1"},
		Versions: map[string]string{"go": "go1.26"}, Server: "postgres: 15", Settings: map[string]string{"fsync": "off"},
	}
	add := func(list ...report.Measurement) { r.Measurements = append(r.Measurements, list...) }
	add(m("claim", "satchel", "median_ms", 1, "shape", "S0", "backlog", "1000000"))
	for _, s := range []string{"S1", "S2", "S3", "S4", "S5", "S6", "S7"} {
		limit := 2.0
		if s == "S7" {
			limit = 4
		}
		c := m("claim", "satchel", "median_ms", limit, "shape", s, "backlog", "1000000")
		c.Values["cold_ms"], c.Values["cold_max_ms"] = 10_000, 100
		add(c, m("claim", "satchel", "median_ms", 1, "shape", s, "backlog", "10000"))
	}
	for mode, rate := range map[string]float64{"KEEP": 2000, "ARCHIVE": 2500, "DELETE": 3500} {
		add(m("drain", "satchel", "rate", rate, "mode", mode, "handler", "0s"),
			m("drain", "satchel", "rate", 10, "mode", mode, "handler", "0s", "workers", "8"),
			m("drain", "bare loop", "rate", math.Floor(rate/0.85), "mode", mode, "handler", "0s"))
	}
	add(m("drain", "river", "rate", 1000, "handler", "0s"), m("drain", "river", "rate", 900, "handler", "0s", "workers", "9"),
		m("drain", "watermill", "rate", 1750, "handler", "0s"), m("ordered", "satchel", "rate", 5000), m("kafka", "satchel", "ratio", 0.7), m("publish", "awake", "ratio", 0.95))
	for _, from := range []string{"asleep", "awake"} {
		l := m("latency", "satchel", "p50_ms", 5, "rate", "100", "from", from)
		l.Values["p99_ms"] = 25
		add(l)
	}
	add(m("latency", "river", "p50_ms", 25, "rate", "100", "tuning", "tuned"), m("latency", "river", "p50_ms", 60, "rate", "100", "tuning", "default"))
	for _, mode := range []string{"KEEP", "DELETE"} {
		add(m("snapshot", "satchel", "rate", 100, "mode", mode, "held", "false"), m("snapshot", "satchel", "rate", 80, "mode", mode, "held", "true"))
	}
	add(m("memory", "satchel", "resident_mb", 64, "backlog", "1000000"))
	return r
}

func TestChecksPassAtTheirBounds(t *testing.T) {
	t.Parallel()
	checks := everything().Checks()
	if len(checks) != 30 {
		t.Errorf("%d checks, want 30", len(checks))
	}
	for _, c := range checks {
		if c.Verdict != report.Pass {
			t.Errorf("%s: %s, found %s, bound %s", c.What, c.Verdict, c.Found, c.Bound)
		}
	}
}

// Each figure that a check depends on must be able to make it miss.
func TestChecksMissBeyondTheirBounds(t *testing.T) {
	t.Parallel()
	for _, spoil := range []struct {
		what  string
		match func(report.Measurement) bool
		value string
		by    float64
		want  int // misses
	}{
		{"a slow claim behind S4", in("claim", "shape", "S4"), "median_ms", 1.01, 1},
		{"a slow claim behind S7", in("claim", "shape", "S7"), "median_ms", 1.01, 1},
		{"a long cold start", in("claim", "shape", "S2"), "cold_ms", 1.01, 1},
		{"a long statement", in("claim", "shape", "S6"), "cold_max_ms", 1.01, 1},
		{"slow relays that delete", both(series("drain", "satchel"), in("drain", "mode", "DELETE")), "rate", 0.98, 3},
		{"a quicker River", series("drain", "river"), "rate", 1.01, 3},
		{"a quicker watermill-sql", series("drain", "watermill"), "rate", 1.01, 1},
		{"a quicker bare loop", series("drain", "bare loop"), "rate", 1.02, 3},
		{"slow Kafka", in("kafka"), "ratio", 0.99, 1},
		{"slow order", in("ordered"), "rate", 0.99, 1},
		{"a dear trigger", in("publish"), "ratio", 0.99, 1},
		{"late from asleep", in("latency", "from", "asleep"), "p99_ms", 1.01, 1},
		{"later than a fifth of River tuned", in("latency", "tuning", "tuned"), "p50_ms", 0.99, 2},
		{"later than a fifth of River's defaults", in("latency", "tuning", "default"), "p50_ms", 0.4, 2},
		{"slow under a snapshot", in("snapshot", "held", "true"), "rate", 0.99, 2},
		{"memory", in("memory"), "resident_mb", 1.01, 1},
	} {
		r := everything()
		for _, each := range r.Measurements {
			if _, has := each.Values[spoil.value]; has && spoil.match(each) {
				each.Values[spoil.value] *= spoil.by
			}
		}
		missed := 0
		for _, c := range r.Checks() {
			if c.Verdict == report.Miss {
				missed++
			}
		}
		if missed != spoil.want {
			t.Errorf("%s: %d misses, want %d", spoil.what, missed, spoil.want)
		}
	}
}

func in(name string, params ...string) func(report.Measurement) bool {
	return func(m report.Measurement) bool {
		ok := m.Case == name
		for i := 0; i+1 < len(params); i += 2 {
			ok = ok && m.Params[params[i]] == params[i+1]
		}
		return ok
	}
}

func series(name, series string) func(report.Measurement) bool {
	return func(m report.Measurement) bool { return m.Case == name && m.Series == series }
}

func both(a, b func(report.Measurement) bool) func(report.Measurement) bool {
	return func(m report.Measurement) bool { return a(m) && b(m) }
}

func TestWhatIsMissingIsNotMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range (&report.Run{}).Checks() {
		if c.Verdict != report.NotMeasured || c.Found != "" {
			t.Errorf("%s: %s, found %q", c.What, c.Verdict, c.Found)
		}
	}
}

func TestMissingKafkaIsToldOf(t *testing.T) {
	t.Parallel()
	r := everything()
	r.Measurements = slices.DeleteFunc(r.Measurements, in("kafka"))
	r.Measurements = append(r.Measurements, report.Measurement{Case: "kafka", Series: report.NoKafka})
	var page strings.Builder
	if err := r.Markdown(&page, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| ≥ 0.70× | no Kafka | not measured |", "| not measured: no Kafka |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestWriteMakesFilesThatCanBeReadAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := everything()
	for range 2 { // the second time replaces the first
		if err := r.Write(folder, "short", map[string]string{"claim": "What a claim costs."}); err != nil {
			t.Fatal(err)
		}
	}
	again, err := report.Read(filepath.Join(folder, "short.json"))
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("read back: error %v, equal %v", err, reflect.DeepEqual(again, r))
	}
	page, err := os.ReadFile(filepath.Join(folder, "short", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"What a claim costs.", "| machine | a \\| b, 2 cores", "bench -peers", "| drain DELETE, of River's best | ≥ 3.50× | 3.50× | pass |",
		"![claim](claim-satchel.svg)", "![drain](drain.svg)", "![memory](memory.svg)",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	plots, err := filepath.Glob(filepath.Join(folder, "short", "*.svg"))
	if err != nil || len(plots) != 5 {
		t.Errorf("plots: %v, %v", plots, err)
	}
	for _, path := range plots {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "<svg") {
			t.Errorf("%s is not a picture: %v", filepath.Base(path), err)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	list := []report.Measurement{m("a", "x", "rate", 1), m("a", "x", "rate", 3), m("a", "x", "other", 9)}
	if v, ok := report.Best(list, "rate"); v != 3 || !ok {
		t.Errorf("got %v, %v", v, ok)
	}
	if v, ok := report.Best(list, "none"); ok || math.IsNaN(v) {
		t.Errorf("a value that is not there: got %v, %v", v, ok)
	}
}
