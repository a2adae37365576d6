package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Markdown writes the run as a document. about explains each case; plots are the names
// of image files beside it, by case.
func (r *Run) Markdown(w io.Writer, about map[string]string, plots map[string][]string) error {
	d := &document{}
	d.line("# Measurements, %s run", r.Scale)
	d.line("")
	d.table([]string{"", ""}, r.circumstances())
	d.line("## What must hold")
	d.line("")
	var rows [][]string
	for _, c := range r.Checks() {
		rows = append(rows, []string{c.What, c.Bound, c.Found, string(c.Verdict)})
	}
	d.table([]string{"", "bound", "found", ""}, rows)
	for _, name := range r.cases() {
		d.line("## %s", name)
		d.line("")
		if text := about[name]; text != "" {
			d.line("%s", text)
			d.line("")
		}
		for _, file := range plots[name] {
			d.line("![%s](%s)", name, filepath.Base(file))
			d.line("")
		}
		d.measurements(r.Where(name, ""))
	}
	_, err := io.WriteString(w, d.String())
	return err
}

// circumstances are the rows of the first table.
func (r *Run) circumstances() [][]string {
	rows := [][]string{
		{"when", r.Began.UTC().Format("2006-01-02 15:04 MST") + ", took " + r.Took},
		{"command", "`" + strings.Join(r.Command, " ") + "`"},
		{"machine", fmt.Sprintf("%s, %d cores, %s, %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.OS)},
		{"load before", r.Machine.Load},
		{"server", r.Server},
		{"settings", pairs(r.Settings)},
		{"versions", pairs(r.Versions)},
	}
	return rows
}

func pairs(m map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+"="+m[name])
	}
	return strings.Join(list, ", ")
}

// document collects the text.
type document struct{ strings.Builder }

func (d *document) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *document) table(head []string, rows [][]string) {
	d.line("| %s |", strings.Join(head, " | "))
	d.line("|%s", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		d.line("| %s |", strings.Join(row, " | "))
	}
	d.line("")
}

// measurements prints a table with one line for each.
func (d *document) measurements(list []Measurement) {
	params, values := columns(list)
	var rows [][]string
	for _, m := range list {
		row := []string{m.Series}
		for _, p := range params {
			row = append(row, m.Params[p])
		}
		for _, v := range values {
			cell := ""
			if figure, ok := m.Values[v]; ok {
				cell = number(figure)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	d.table(slices.Concat([]string{"series"}, params, values), rows)
}
