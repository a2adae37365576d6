package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/benchmarks/report"
)

func TestPeersLinesAreTakenIn(t *testing.T) {
	t.Parallel()
	lines := `{"versions": {"github.com/riverqueue/river": "v0.51.2"}}
{"case": "drain", "series": "river", "params": {"workers": "500"}, "values": {"rate": 9000}}
{"case": "publish", "series": "river", "values": {"rate": 2000}}
`
	versions := map[string]string{"go": "go1.26"}
	var got []report.Measurement
	err := readPeers(strings.NewReader(lines), func(m report.Measurement) { got = append(got, m) }, versions)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Series != "river" || got[0].Params["workers"] != "500" || got[0].Values["rate"] != 9000 || got[1].Case != "publish" {
		t.Errorf("got %+v", got)
	}
	if len(versions) != 2 || versions["github.com/riverqueue/river"] != "v0.51.2" {
		t.Errorf("versions %v", versions)
	}
}

func TestPeersThatPrintSomethingElseAreAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"panic: no", `{"case": "drain"`} {
		err := readPeers(strings.NewReader(text), func(m report.Measurement) { t.Errorf("took %+v in", m) }, map[string]string{})
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestMachineIsDescribed(t *testing.T) {
	t.Parallel()
	if m := machine(); m.Cores < 1 || m.OS == "" || m.CPU == "" {
		t.Errorf("got %+v", m)
	}
	if field("/no/such/file", "MemTotal") != "" {
		t.Error("a file that is not there says something")
	}
	if versions()["go"] == "" {
		t.Error("the version of Go is missing")
	}
}

func TestScaleOfARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    options
		want string // the name, or the error
	}{
		"default":           {options{}, "short"},
		"tiny":              {options{tiny: true}, "tiny"},
		"full":              {options{full: true}, "full"},
		"one backlog":       {options{backlog: 5000}, "short-5000"},
		"both":              {options{tiny: true, full: true}, "-tiny and -full exclude each other"},
		"a negative length": {options{backlog: -1}, "-backlog is negative"},
	} {
		scale, err := c.o.scale()
		got := scale.Name
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err == nil && c.o.backlog > 0 && (len(scale.Backlogs) != 1 || scale.Backlogs[0] != c.o.backlog || scale.MemoryRows[0] != c.o.backlog) {
			t.Errorf("%s: backlogs %v, memory %v", name, scale.Backlogs, scale.MemoryRows)
		}
	}
}

func TestOnlyFsyncDiffersInDurability(t *testing.T) {
	t.Parallel()
	fast, durable := settings(false), settings(true)
	if fast["fsync"] != "off" || durable["fsync"] != "on" {
		t.Errorf("fsync is %s and %s", fast["fsync"], durable["fsync"])
	}
	delete(fast, "fsync")
	for name, value := range fast {
		if durable[name] != value {
			t.Errorf("%s differs: %s and %s", name, value, durable[name])
		}
	}
}

func TestEveryCaseIsExplained(t *testing.T) {
	t.Parallel()
	texts := abouts()
	for _, name := range comparable {
		if texts[name] == "" {
			t.Errorf("peers take part in %q, which is no case", name)
		}
	}
}
