// Package report turns measurements into files: JSON for machines, Markdown and SVG for
// people, and a table of what must hold.
package report

import (
	"maps"
	"slices"
	"time"
)

// Measurement is one line of results.
type Measurement struct {
	// Case is what was measured: "claim", "drain".
	Case string `json:"case"`
	// Series names the contender: "satchel", "river".
	Series string `json:"series"`
	// Params are the circumstances, as text.
	Params map[string]string `json:"params,omitempty"`
	// Values are the figures. The name ends in the unit where there is one: "median_ms".
	Values map[string]float64 `json:"values"`
}

// Machine describes where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	OS     string `json:"os"`
	Load   string `json:"load"` // the system's load averages when the run began: other work disturbs figures
}

// Run is everything that one run found.
type Run struct {
	Began        time.Time         `json:"began"`
	Took         string            `json:"took"`
	Command      []string          `json:"command"`
	Scale        string            `json:"scale"`
	Machine      Machine           `json:"machine"`
	Versions     map[string]string `json:"versions"`
	Server       string            `json:"server"`
	Settings     map[string]string `json:"settings"` // of the server, as far as they matter
	Measurements []Measurement     `json:"measurements"`
}

// Where returns the measurements of a case, of a series ("" for any), and with the given
// parameters, in pairs of name and value.
func (r *Run) Where(name, series string, params ...string) []Measurement {
	var found []Measurement
next:
	for _, m := range r.Measurements {
		if m.Case != name || series != "" && m.Series != series {
			continue
		}
		for i := 0; i+1 < len(params); i += 2 {
			if m.Params[params[i]] != params[i+1] {
				continue next
			}
		}
		found = append(found, m)
	}
	return found
}

// Best returns the largest value with the given name, and ok false if there is none.
func Best(list []Measurement, value string) (best float64, ok bool) {
	for _, m := range list {
		if v, has := m.Values[value]; has && (!ok || v > best) {
			best, ok = v, true
		}
	}
	return best, ok
}

// cases returns the names of the cases in the order in which they were measured.
func (r *Run) cases() []string {
	var names []string
	for _, m := range r.Measurements {
		if !slices.Contains(names, m.Case) {
			names = append(names, m.Case)
		}
	}
	return names
}

// columns returns the names of parameters and values that occur in a list, sorted.
func columns(list []Measurement) (params, values []string) {
	p, v := map[string]bool{}, map[string]bool{}
	for _, m := range list {
		for name := range m.Params {
			p[name] = true
		}
		for name := range m.Values {
			v[name] = true
		}
	}
	return slices.Sorted(maps.Keys(p)), slices.Sorted(maps.Keys(v))
}
