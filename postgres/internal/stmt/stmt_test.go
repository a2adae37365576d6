package stmt

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
)

// TestEveryTableIsPlaced: with a schema, no table is named without it; without one,
// none is qualified. What the braces became shows in the difference.
func TestEveryTableIsPlaced(t *testing.T) {
	t.Parallel()
	plain, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	const name = `we"ird $1 Name`
	const prefix = `"we""ird $1 Name".`
	placed, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	tables := regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE|DELETE FROM|JOIN)\s+(inbox|outbox\w*)\b`)
	a, b := reflect.ValueOf(*plain), reflect.ValueOf(*placed)
	for i := range a.NumField() {
		field, without, with := a.Type().Field(i).Name, a.Field(i).String(), b.Field(i).String()
		if without == "" || with == "" {
			t.Errorf("%s is empty", field)
		}
		if strings.ReplaceAll(with, prefix, "") != without {
			t.Errorf("%s: the two differ in more than the schema", field)
		}
		if found := tables.FindString(with); found != "" {
			t.Errorf("%s names a table without its schema: %s", field, found)
		}
		if strings.ContainsAny(without, "{}") && !strings.Contains(without, "'{}'") || strings.Contains(without, "--") {
			t.Errorf("%s has braces or comments left", field)
		}
		for _, star := range []string{"SELECT o.*", "RETURNING *", "RETURNING o.*"} {
			if strings.Contains(without, star) {
				t.Errorf("%s has %s: a column that is added would change its result", field, star)
			}
		}
	}
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"messaging", "Select", "order", "with space", `q"uote`, "$1", "ünï", strings.Repeat("x", 63)} {
		if _, err := Load(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	for _, name := range []string{" ", "\t", "a.b", "a\x00b", "a\nb", "\xff", "pg_catalog", "pg_x", "information_schema", "$user", strings.Repeat("x", 64), strings.Repeat("ü", 32)} {
		if _, err := Load(name); !fault.IsInvalid(err) {
			t.Errorf("%q gives %v, want a *fault.Invalid", name, err)
		}
	}
}
