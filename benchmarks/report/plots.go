package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Plots draws what is better seen than read into a folder and returns the files by case.
func (r *Run) Plots(folder string) (map[string][]string, error) {
	files := map[string][]string{}
	draw := func(name, suffix string, do func(path string) error) error {
		path := filepath.Join(folder, name+suffix+".svg")
		if err := do(path); err != nil {
			return fmt.Errorf("plot %s: %w", filepath.Base(path), err)
		}
		files[name] = append(files[name], path)
		return nil
	}
	for _, series := range r.series("claim") {
		lines := r.lines("claim", series, "shape", "backlog", "median_ms")
		if len(lines) == 0 {
			continue
		}
		err := draw("claim", "-"+slug(series), func(path string) error {
			return drawLines(path, "One claim of 50: "+series, "rows in the way", "median, ms", lines)
		})
		if err != nil {
			return nil, err
		}
	}
	if lines := r.lines("memory", "satchel", "", "backlog", "resident_mb"); len(lines) > 0 {
		err := draw("memory", "", func(path string) error {
			return drawLines(path, "Resident memory of a relay", "rows waiting", "MB", lines)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, b := range []struct{ name, title, value, unit string }{
		{"drain", "Drain, no-op handler, best setting of each", "rate", "entries per second"},
		{"publish", "Publishing, 16 connections", "rate", "transactions per second"},
		{"schema", "Writing rows, by schema version", "rate", "rows per second"},
		{"latency", "Commit to handler at 100 messages per second", "p50_ms", "median, ms"},
		{"snapshot", "Drain with and without an open snapshot", "rate", "entries per second"},
	} {
		bars := r.bars(b.name, b.value)
		if len(bars) == 0 {
			continue
		}
		if err := draw(b.name, "", func(path string) error { return drawBars(path, b.title, b.unit, bars) }); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// series returns the names of a case's series in the order in which they occur.
func (r *Run) series(name string) (names []string) {
	for _, m := range r.Where(name, "") {
		if !slices.Contains(names, m.Series) {
			names = append(names, m.Series)
		}
	}
	return names
}

// line is one line of a plot.
type line struct {
	name string
	x, y []float64
}

// lines returns a value over a numeric parameter, one line for each value of the
// parameter by ("" for a single line). Points without an x that a logarithm has are left out.
func (r *Run) lines(name, series, by, over, value string) (lines []line) {
	for _, m := range r.Where(name, series) {
		x, err := strconv.ParseFloat(m.Params[over], 64)
		y := m.Values[value]
		if err != nil || x <= 0 || y <= 0 {
			continue
		}
		i := slices.IndexFunc(lines, func(l line) bool { return l.name == m.Params[by] })
		if i < 0 {
			i, lines = len(lines), append(lines, line{name: m.Params[by]})
		}
		lines[i].x, lines[i].y = append(lines[i].x, x), append(lines[i].y, y)
	}
	return lines
}

// bar is one bar of a plot.
type bar struct {
	name  string
	value float64
}

// label returns which bar a measurement belongs to, and false if to none.
func label(m Measurement) (string, bool) {
	switch m.Case {
	case "drain":
		return m.Series + " " + m.Params["mode"], m.Params["handler"] == "0s"
	case "schema":
		return m.Series + " " + m.Params["step"], true
	case "latency":
		return strings.TrimSpace(m.Series + " " + m.Params["from"] + m.Params["tuning"]), m.Params["rate"] == "100"
	case "snapshot":
		return m.Params["mode"] + map[string]string{"true": ", held", "false": ", none"}[m.Params["held"]], true
	default:
		return m.Series, true
	}
}

// bars returns the largest value of each label.
func (r *Run) bars(name, value string) (bars []bar) {
	for _, m := range r.Where(name, "") {
		text, wanted := label(m)
		v, has := m.Values[value]
		if !wanted || !has {
			continue
		}
		i := slices.IndexFunc(bars, func(b bar) bool { return b.name == text })
		if i < 0 {
			i, bars = len(bars), append(bars, bar{name: text})
		}
		bars[i].value = max(bars[i].value, v)
	}
	return bars
}

func slug(name string) string {
	out := []byte{}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	return string(out)
}
