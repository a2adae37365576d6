package cases_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/benchmarks/cases"
	"github.com/satchel-go/satchel/benchmarks/report"
)

const childMode = "relay"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childMode {
		if err := cases.RelayChild(context.Background(), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serverURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv("SATCHEL_DATABASE_URL")
	if url == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run `make test`, which starts a server")
	}
	return url
}

// wanted is the number of measurements that each case makes at the tiny scale.
var wanted = map[string]int{
	"claim": 8 * 3, "schema": 9, "drain": 3 * 2 * (2 + 1), "ordered": 2, "kafka": 3, "snapshot": 4, "publish": 5, "publish-batch": 2, "latency": 2, "memory": 1,
}

func TestEveryCaseMeasures(t *testing.T) {
	t.Parallel()
	url := serverURL(t)
	for _, c := range cases.All() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.About == "" {
				t.Error("the case does not say what it measures")
			}
			var mu sync.Mutex
			var got []report.Measurement
			err := c.Run(t.Context(), &cases.Env{
				URL: url, Scale: cases.Tiny, Logf: t.Logf, RelayCommand: []string{os.Args[0], childMode},
				Emit: func(m report.Measurement) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, m)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != wanted[c.Name] {
				t.Errorf("%d measurements, want %d", len(got), wanted[c.Name])
			}
			for _, m := range got {
				if m.Case != c.Name || m.Series == "" || len(m.Values) == 0 {
					t.Errorf("incomplete measurement: %+v", m)
				}
				for name, v := range m.Values {
					if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
						t.Errorf("%s of %s %v is %v", name, m.Series, m.Params, v)
					}
				}
			}
		})
	}
}

func TestACancelledCaseEndsWithAnError(t *testing.T) {
	t.Parallel()
	url := serverURL(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range cases.All() {
		err := c.Run(ctx, &cases.Env{URL: url, Scale: cases.Tiny, Logf: t.Logf, Emit: func(m report.Measurement) { t.Errorf("measured %+v", m) }})
		if err == nil {
			t.Errorf("%s: no error", c.Name)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	got, err := cases.Select("^publish")
	if err != nil || len(got) != 2 || got[0].Name != "publish" || got[1].Name != "publish-batch" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := cases.Select("nothing"); err == nil {
		t.Error("a pattern without a match is accepted")
	}
	if _, err := cases.Select("("); err == nil {
		t.Error("a broken pattern is accepted")
	}
}

// A relay process must say what is wrong with its arguments instead of running for ever.
func TestRelayChildRefusesArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"1s", "more"}, {"soon"}} {
		if err := exec.CommandContext(t.Context(), os.Args[0], append([]string{childMode}, args...)...).Run(); err == nil {
			t.Errorf("%s: no error", strings.Join(args, " "))
		}
	}
}
