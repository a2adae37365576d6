package absent_test

import (
	"testing"

	"github.com/satchel-go/satchel/core/internal/absent"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		want  bool
	}{
		"nil":           {nil, true},
		"nil pointer":   {(*int)(nil), true},
		"nil function":  {(func())(nil), true},
		"pointer":       {new(int), false},
		"function":      {func() {}, false},
		"nil map":       {map[int]int(nil), false},
		"nil slice":     {[]int(nil), false},
		"struct":        {struct{}{}, false},
		"nil in struct": {struct{ p *int }{}, false},
	} {
		if got := absent.Is(c.value); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
