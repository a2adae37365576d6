package layouts

import (
	"io/fs"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/schema"
)

// part returns the files up to a version, as an older release of satchel had them.
func part(t *testing.T, files fs.FS, version int64) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	for _, name := range names {
		if name[:14] > strconv.FormatInt(version, 10) {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: text}
	}
	return some
}

func goosePart(t *testing.T, version int64) fstest.MapFS {
	t.Helper()
	return part(t, schema.Goose(), version)
}

func golangMigratePart(t *testing.T, version int64) fstest.MapFS {
	t.Helper()
	return part(t, schema.GolangMigrate(), version)
}
