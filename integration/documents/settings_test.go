package documents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/wiring/settings"
)

// A configuration can be loaded.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			if b.lang != "json" && b.lang != "yaml" {
				continue
			}
			file := filepath.Join(t.TempDir(), "service."+b.lang)
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := settings.Load(settings.Sources{Files: []string{file}}); err != nil {
				t.Errorf("%s: %v", b.where, err)
			}
		}
	}
}
