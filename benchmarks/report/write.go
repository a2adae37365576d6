package report

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Write stores a run in a folder, which it makes if needed: <name>.json with everything,
// and a folder <name> with README.md and its plots. An earlier run of that name is
// replaced.
func (r *Run) Write(folder, name string, about map[string]string) error {
	pages := filepath.Join(folder, name)
	if err := os.RemoveAll(pages); err != nil {
		return err
	}
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), append(raw, '\n'), 0o644); err != nil {
		return err
	}
	plots, err := r.Plots(pages)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(pages, "README.md"))
	if err != nil {
		return err
	}
	if err := r.Markdown(file, about, plots); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// Read returns a run that Write stored, for drawing it anew.
func Read(path string) (*Run, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	return r, json.Unmarshal(raw, r)
}
